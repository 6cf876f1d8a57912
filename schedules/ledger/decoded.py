"""Values and failures of a history as text and JSON, whoever wrote them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from temporalio.api.enums.v1 import TimeoutType
from temporalio.exceptions import FailureError

from schedules.errors import UndecodableError

if TYPE_CHECKING:
    from temporalio.api.common.v1 import Payloads
    from temporalio.api.failure.v1 import Failure
    from temporalio.api.history.v1 import HistoryEvent
    from temporalio.converter import DataConverter

FAILURE_LENGTH = 1_000


def attributes_of(event: HistoryEvent) -> object:
    """What a history's event says, by the type of its attributes."""
    kind = event.WhichOneof("attributes")
    return getattr(event, kind) if kind else None


async def failure_text(failure: Failure, converter: DataConverter) -> str:
    """The message, and the causes that say more; without the key, that it is missing."""
    try:
        error: BaseException | None = await converter.decode_failure(failure)
    except UndecodableError as undecodable:
        error = undecodable
    told: list[str] = []
    while error is not None:
        message = error.message if isinstance(error, FailureError) else str(error)
        told += [message] if message and message not in told else []
        error = error.__cause__
    if failure.HasField("timeout_failure_info"):
        kind = TimeoutType.Name(failure.timeout_failure_info.timeout_type).removeprefix("TIMEOUT_TYPE_").lower()
        told[0:1] = [f"{kind.replace('_', '-')} timeout"]
    return ": ".join(told)[:FAILURE_LENGTH]


async def first_value(given: Payloads, converter: DataConverter) -> Any:
    """The first of some values; None without one, and where it cannot be read here."""
    if not given.payloads:
        return None
    try:
        return (await converter.decode(given.payloads[:1]))[0]
    except Exception:  # noqa: BLE001  a converter or codec of the user's, or bytes that are none of ours
        return None
