"""One job as the page has it. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from activities.account.facts import NOT_RUN
from schedules.board.cells import marks_json
from schedules.board.kinds import RANK
from schedules.board.past import pending
from schedules.console.table import one_line
from schedules.ledger.status import WORST_FIRST
from schedules.text.duration import format_duration

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from activities.account.facts import Run
    from schedules.board.cells import Cell
    from schedules.board.past import Frame, Past
    from schedules.ledger.state import JobState
    from schedules.monitor.monitored_job import MonitoredJob
    from schedules.spec.job import JobSpec

LONGEST_WHY = 300
MOST_RUNS = 24
"""Points of a sparkline."""
AMISS = RANK["waiting"]
"""A job with a mark of this kind or a worse one is in trouble, though its last run may have gone well."""


@dataclass(frozen=True, slots=True)
class Row:
    """What was drawn of a job, and how long it holds; `json` has all but what depends on the moment: `next` and `plan`."""

    json: dict[str, Any]
    state: JobState
    begin: int
    oldest: datetime | None

    def holds(self, known: MonitoredJob, frame: Frame) -> bool:
        """Whether it is as it would be drawn now."""
        same = self.state is known.state and self.begin == frame.begin
        return same and self.oldest is not None and self.oldest >= frame.counted_from and not pending(known, frame)


def row_of(known: MonitoredJob, state: JobState, found: Past, frame: Frame, labels: Mapping[str, str]) -> Row:
    """`marks` are those of `marks_json`; spans are seconds, oldest first."""
    runs = _ended(known.runs)
    json = {
        **_about(state, labels),
        "rank": _rank(state, found.cells),
        "marks": marks_json(found.cells, frame.begin),
        "late": [_seconds(run.lateness.total_seconds()) for run in runs],
        "took": [_seconds((run.closed_at - run.started_at).total_seconds()) for run in runs if run.closed_at],
    }
    return Row(json, state, frame.begin, found.oldest)


def row_json(row: Row, known: MonitoredJob, plan: int | None, frame: Frame) -> dict[str, Any]:
    """As the page has it; `plan` is the place of its times to come, None where they are not known."""
    return {**row.json, "next": _offset(known.job.next_start(frame.now), frame), "plan": plan}


def missing_json(state: JobState, job: JobSpec) -> Any:
    """The same of a job of the spec files that has no schedule."""
    nothing: dict[str, Any] = {"next": None, "rank": 0, "marks": [], "plan": None, "late": [], "took": []}
    return {**_about(state, job.labels), **nothing}


def _about(state: JobState, labels: Mapping[str, str]) -> dict[str, Any]:
    return {
        "name": state.name,
        "owner": state.owner,
        "zone": state.timezone,
        "jitter": format_duration(state.jitter) if state.jitter else "",
        "state": state.state,
        "why": "" if state.why == state.last_outcome else one_line(state.why, LONGEST_WHY),
        "note": one_line(state.note, LONGEST_WHY) if state.paused else "",
        "failures": state.failures,
        "running": len(state.running),
        "labels": [f"{name}={value}" for name, value in labels.items()],
    }


def _rank(state: JobState, cells: Mapping[int, Cell]) -> int:
    """What must be looked at comes first: by the state, then what went wrong in the day."""
    rank = WORST_FIRST.index(state.state) * 2
    amiss = any(RANK[cell.worst] <= AMISS for cell in cells.values() if cell.counts)
    return min(rank, WORST_FIRST.index("late") * 2 + 1) if amiss else rank


def _ended(runs: Sequence[Run]) -> list[Run]:
    """The newest that did their work, or failed at it."""
    worked = [run for run in runs if run.closed_at and run.verdict not in NOT_RUN]
    return sorted(worked, key=lambda run: run.scheduled_at)[-MOST_RUNS:]


def _offset(at: datetime | None, frame: Frame) -> int | None:
    return None if at is None else int(at.timestamp()) - frame.begin


def _seconds(value: float) -> float:
    return round(max(value, 0.0), 1)
