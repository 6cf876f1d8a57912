"""The idempotency key of a step: what lets a service recognise a request that it has already carried out. Pure."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING
from urllib.parse import quote

if TYPE_CHECKING:
    from activities.contract import StepCall

MAX_LENGTH = 200
"""Characters; common limits of services are 255."""


def idempotency_key(call: StepCall) -> str:
    """`project/environment/job/scheduled time/step`: the same in every attempt, at most MAX_LENGTH ASCII characters.

    A run that repeats an occurrence on purpose has `/rerun-…` behind it.

    Other characters are percent-encoded, so that different steps have different keys; a long key ends in a SHA-256 of
    the whole.
    """
    fields = (call.project, call.environment, call.job, call.scheduled_at, call.step.name)
    rerun = (f"rerun-{call.rerun}",) if call.rerun else ()
    key = "/".join(quote(field, safe=":") for field in (*fields, *rerun))
    if len(key) <= MAX_LENGTH:
        return key
    digest = sha256(key.encode()).hexdigest()
    return f"{key[: MAX_LENGTH - len(digest) - 1]}~{digest}"
