"""The report of `shadow report`: each job compared with its old side, or checked after its handover, and what to do next. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from activities.occurrence import stamp
from schedules.importing.comparison import SHOWN, Compared, compared_document, compared_lines
from schedules.importing.evidence import OldStart
from schedules.importing.hand_over import (
    Boundary,
    HandedOver,
    handed_over_document,
    handed_over_lines,
    proposal,
    stop_text,
)
from schedules.text.shown import some_of

CLAIM: Final = (
    "or put `tickwright claim JOB --` before their old lines, and sync without --shadow: see docs/moving-in.md"
)

NOT_SEEN: Final = "a shadow takes no time: what overlap, catch-up and deadlines would have decided is not seen"


@dataclass(frozen=True, slots=True)
class ShadowReport:
    """Jobs as compared or checked, keys of the evidence that are of no job, and the proposal for those that are ready.

    `sides` is a start of the old side of each job that is ready, `next_times` its first time from the boundary on.
    """

    jobs: Sequence[Compared | HandedOver]
    unknown: Sequence[str]
    boundary: Boundary | None
    sides: Mapping[str, OldStart]
    next_times: Mapping[str, datetime]

    @property
    def equal(self) -> bool:
        """Whether there are jobs, and each is as it should be."""
        return bool(self.jobs) and all(each.equal for each in self.jobs)

    def lines(self) -> Iterator[str]:
        """For a terminal."""
        for each in self.jobs:
            yield from handed_over_lines(each) if isinstance(each, HandedOver) else compared_lines(each)
        if self.unknown:
            yield f"of no job here: {some_of(self.unknown, SHOWN)}"
        yield f"{sum(each.equal for each in self.jobs)} of {len(self.jobs)} jobs are equal"
        if any(isinstance(each, Compared) for each in self.jobs):
            yield NOT_SEEN
        if self.boundary and self.sides:
            yield from proposal(self.boundary, self.sides, self.next_times)
            yield f"  {CLAIM}"

    def document(self) -> dict[str, Any]:
        """For JSON; times are RFC 3339 in UTC, spans are seconds."""
        return {
            "jobs": [
                handed_over_document(each) if isinstance(each, HandedOver) else compared_document(each)
                for each in self.jobs
            ],
            "unknown": list(self.unknown),
            "hand_over": self._hand_over(),
        }

    def _hand_over(self) -> dict[str, Any] | None:
        if not self.boundary or not self.sides:
            return None
        return {
            "at": stamp(self.boundary.at),
            "after": stamp(self.boundary.after),
            "before": stamp(self.boundary.before),
            "jobs": [
                {
                    "job": job,
                    "first": stamp(self.next_times[job]) if job in self.next_times else None,
                    "old_side": stop_text(start),
                }
                for job, start in self.sides.items()
            ],
        }
