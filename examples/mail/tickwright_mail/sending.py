"""What a worker does for `mail` steps."""

import asyncio
import smtplib
from email.message import EmailMessage
from typing import Any

from tickwright import HandlerError


class MailHandler:
    """Made once by each worker."""

    def __init__(self, parts: Any) -> None:
        self.parts = parts

    def problem(self, params: dict[str, Any]) -> str:
        """Why this worker cannot run the step; then another worker of the queue gets it."""
        return "" if params["to"] else "nobody to write to"

    async def run(self, params: dict[str, Any], attempt: Any) -> dict[str, Any]:
        """The output of the step. Templates and secrets are filled in."""
        mail = EmailMessage()
        mail["To"], mail["Subject"] = params["to"], params["subject"]
        mail["Message-ID"] = f"<{attempt.idempotency_key}@tickwright>"  # the same in each attempt
        mail.set_content(params.get("text", ""))
        return await asyncio.to_thread(send, params["server"], mail)


def send(server: str, mail: EmailMessage) -> dict[str, Any]:
    """In a thread, since smtplib blocks."""
    try:
        with smtplib.SMTP(server, timeout=10) as connection:
            connection.send_message(mail, from_addr="jobs@localhost")
    except smtplib.SMTPRecipientsRefused as error:
        raise HandlerError(f"nobody has the address {mail['To']}", permanent=True) from error
    return {"message_id": mail["Message-ID"]}
