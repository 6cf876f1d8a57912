"""The request and the result of a trigger."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from activities.overlap import Overlap


@dataclass(frozen=True, slots=True)
class Triggered:
    """`result`: `started`, `waiting` behind another run, `dropped` by overlap, or with --wait the outcome."""

    job: str
    workflow_id: str
    scheduled_at: str
    result: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class TriggerRequest:
    """The options of a `trigger`, beside the job."""

    #: Of which occurrence, as it was written; empty for a run of now.
    scheduled_at: str = ""
    #: Whether one that has succeeded runs once more.
    again: bool = False
    #: `handler.parameter=value`, for this run alone.
    assignments: tuple[str, ...] = ()
    #: None for the job's own.
    overlap: Overlap | None = None
    #: Whether to follow the run to its end.
    wait: bool = False
