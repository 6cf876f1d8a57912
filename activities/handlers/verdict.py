"""What the exit code of an image says about its step. Pure."""

from __future__ import annotations

import signal
from typing import Any

from activities.errors import HandlerError

_KILLED = 137
_OVER = 128
"""Exit codes above it are a signal's number and this."""


def ended_badly(
    image: str,
    code: int,
    *,
    out_of_memory: bool,
    memory: str | None,
    permanent: bool,
    last_line: str,
    details: dict[str, Any],
) -> HandlerError:
    """Of an exit code other than 0. `memory` is the limit, if there is one; runtimes do not always say that memory was the cause."""
    kind = f"exit code {code}"
    message = f"`{image}` ended with exit code {code}{_signal(code)}"
    if out_of_memory:
        message, kind = f"`{image}` took more memory than {memory or 'there is'} (OOMKilled)", "OOMKilled"
    elif code == _KILLED and memory:
        message += f", as happens to what takes more memory than its limit of {memory}"
    return HandlerError(message + last_line, permanent=permanent, details={"exit_code": code, **details}, kind=kind)


def _signal(code: int) -> str:
    try:
        return f" ({signal.Signals(code - _OVER).name})" if code > _OVER else ""
    except ValueError:
        return ""
