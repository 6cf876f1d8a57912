"""The six overlap policies: what a schedule does at a scheduled time while a run before is still going. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

Overlap = Literal["skip", "buffer_one", "buffer_all", "cancel_other", "terminate_other", "allow_all"]
OVERLAPS: tuple[Overlap, ...] = get_args(Overlap)
KEPT_BY_V2 = 2
"""Starts that a V2 schedule keeps waiting under `buffer_one` (seen on 1.32.0); a V1 schedule keeps one."""


@dataclass(frozen=True, slots=True)
class OverlapPolicy:
    """What one policy does."""

    name: Overlap
    #: A run at work keeps the scheduled run from starting at its time.
    holds_back: bool = False
    #: The scheduled run waits in the schedule's buffer for the end of the one at work.
    buffers: bool = False
    #: The run at work is ended: cancelled, of which it may take its time, or terminated.
    ends_other: bool = False
    #: Runs go on side by side.
    side_by_side: bool = False
    #: After an outage the server starts this many missed runs by itself; None for all of them.
    runs_after_outage: int | None = 1

    @property
    def keeps_all(self) -> bool:
        """Every scheduled time gets a run of its own."""
        return self.runs_after_outage is None


SKIP = OverlapPolicy("skip", holds_back=True)
"""No run at that time. It is the server's default."""
BUFFER_ONE = OverlapPolicy("buffer_one", holds_back=True, buffers=True, runs_after_outage=2)
"""One run waits; times after it get none."""
BUFFER_ALL = OverlapPolicy("buffer_all", holds_back=True, buffers=True, runs_after_outage=None)
"""All runs wait, and go one after another."""
CANCEL_OTHER = OverlapPolicy("cancel_other", ends_other=True)
"""The run at work is cancelled; the new one starts when that one has ended."""
TERMINATE_OTHER = OverlapPolicy("terminate_other", ends_other=True)
"""The run at work is terminated, without compensations; the new one starts at once."""
ALLOW_ALL = OverlapPolicy("allow_all", side_by_side=True, runs_after_outage=None)
"""Runs go on side by side, and none is told of the result of another."""

_BY_NAME = {policy.name: policy for policy in (SKIP, BUFFER_ONE, BUFFER_ALL, CANCEL_OTHER, TERMINATE_OTHER, ALLOW_ALL)}


def overlap_policy(name: str | None) -> OverlapPolicy:
    """The policy of that name; the server's default where it is not known."""
    return next((policy for known, policy in _BY_NAME.items() if known == name), SKIP)
