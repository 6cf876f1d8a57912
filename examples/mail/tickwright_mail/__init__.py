"""`mail` steps for Tickwright: what may be written in a spec. Commands load it, and nothing of what sends."""

from typing import ClassVar

from pydantic import Field

from tickwright import KindSpec


class MailSpec(KindSpec):
    """A mail."""

    runner: ClassVar[str] = "tickwright_mail.sending:MailHandler"
    server: str = Field(description="Host and port of the mail server.", examples=["mail.internal:25"])
    to: str = Field(description="Address of the recipient.")
    subject: str = Field(description="Subject; it may have templates.")
    text: str = Field(default="", description="Text; it may have templates.")

    def described(self) -> str:
        """For plans and the Web UI."""
        return f"mail to `{self.to}`"
