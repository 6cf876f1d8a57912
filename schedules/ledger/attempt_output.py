"""Output of a step's attempts, from their results, failures and heartbeats."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from temporalio.exceptions import ApplicationError, TimeoutError  # noqa: A004 - the SDK's name

from schedules.text.shown import output_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from temporalio.api.common.v1 import Payloads
    from temporalio.api.failure.v1 import Failure
    from temporalio.converter import DataConverter

LIVE_PLACE = 2
"""Among the details of a heartbeat: what a function reported, places that were masked in it, what the step has put out so far."""
STREAMS = ("request", "status", "body", "stdout", "stderr", "whole", "log", "traceback", "error")
READ = ("stdout", "stderr", "log", "body")
"""The streams that a program writes for people."""

Stream = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Printed:
    """`streams` are names and texts, each at most some 9 KiB; of a step that goes on (`live`) the last 2 KiB of each."""

    attempt: int
    streams: tuple[Stream, ...]
    live: bool = False


async def of_result(attempt: int, given: Payloads, converter: DataConverter) -> Printed:
    """Of an attempt that succeeded, from the StepResult that it gave back."""
    values = await _values(given, converter)
    result = values[0] if values and isinstance(values[0], dict) else {}
    return Printed(attempt, streams_of(result.get("output"), result.get("log")))


def streams_of(output: Any, log: Any) -> tuple[Stream, ...]:
    """Of an attempt that succeeded: what it put out, or else the value that it returned, and what it logged."""
    streams = _streams(output) if isinstance(output, dict) else ()
    if not streams and output is not None:
        streams = (("returned", _text(output)),)
    return (*streams, *_streams({"log": log}))


def last_line(streams: Sequence[Stream]) -> str:
    """The last line that is not blank of the last stream that people read; "" for none."""
    texts = [output_text(text).rstrip() for name, text in streams if name in READ and text.strip()]
    return texts[-1].rsplit("\n", 1)[-1] if texts else ""


async def of_failure(attempt: int, failure: Failure, converter: DataConverter) -> Printed:
    """Of an attempt that failed, from the failure's details; of one whose worker was lost, from its last heartbeat."""
    try:
        error = await converter.decode_failure(failure)
    except Exception:  # noqa: BLE001  a converter or codec of the user's, or a key that is not there
        return Printed(attempt, ())
    if isinstance(error, TimeoutError):
        return Printed(attempt, _of_heartbeat(error.last_heartbeat_details), live=True)
    if not isinstance(error, ApplicationError):
        return Printed(attempt, _streams({"error": str(error)}))
    details = error.details[0] if error.details and isinstance(error.details[0], dict) else {}
    return Printed(attempt, _streams({**details, "error": error.message}))


async def of_heartbeat(attempt: int, given: Payloads, converter: DataConverter) -> Printed:
    """Of an attempt that goes on."""
    return Printed(attempt, _of_heartbeat(await _values(given, converter)), live=True)


def _of_heartbeat(details: Sequence[Any]) -> tuple[Stream, ...]:
    live = details[LIVE_PLACE] if len(details) > LIVE_PLACE else None
    return _streams(live) if isinstance(live, dict) else ()


def _streams(said: dict[str, Any]) -> tuple[Stream, ...]:
    return tuple((name, _text(said[name])) for name in STREAMS if said.get(name) not in (None, "", {}))


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


async def _values(given: Payloads, converter: DataConverter) -> list[Any]:
    try:
        return await converter.decode(given.payloads) if given.payloads else []
    except Exception:  # noqa: BLE001  as above
        return []
