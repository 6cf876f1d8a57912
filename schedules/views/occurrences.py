"""Occurrences as JSON values and as table rows; the same words in both. Pure."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from activities.occurrence import stamp
from schedules.times.moment import local_text

if TYPE_CHECKING:
    from datetime import datetime

    from activities.account.facts import Run
    from schedules.ledger.occurrences import Occurrence

COLUMNS = ("scheduled time", "outcome", "lateness", "duration", "attempts", "reason")
LEAST_FIRST = ("attempts", "lateness", "duration")
"""What is left out where there is no room."""
MINUTE, HOUR, DAY = 60, 3600, 86_400
ORIGINS = {
    "late_run": "started by a late run",
    "trigger": "started by a trigger",
    "backfill": "started by a backfill",
    "by_hand": "started by hand under this id",
    "earlier_spec": "not a time of today's spec",
}


def origin_text(occurrence: Occurrence) -> str:
    """What started its run, empty for the schedule."""
    if occurrence.run and occurrence.run.build:
        return f"started for build {occurrence.run.build} of the workers"
    return ORIGINS.get(occurrence.origin, "")


def occurrence_json(occurrence: Occurrence) -> dict[str, Any]:
    """Times are RFC 3339 in UTC, spans are seconds; `run` is null where there is none."""
    return {
        "scheduled_at": stamp(occurrence.scheduled_at),
        "outcome": occurrence.verdict,
        "expected": occurrence.expected,
        "origin": None if occurrence.run is None else occurrence.origin,
        "reason": occurrence.reason,
        "evidence": list(occurrence.evidence),
        "certain": occurrence.certain,
        "run": run_json(occurrence.run) if occurrence.run else None,
        "earlier_runs": [run_json(run) for run in occurrence.others],
    }


def run_json(run: Run) -> dict[str, Any]:
    """A run; its `outcome` may differ from Temporal's status, which knows no superseded one."""
    return {
        "workflow_id": run.id,
        "run_id": run.run_id,
        "outcome": run.verdict,
        "started_at": instant_json(run.started_at),
        "closed_at": instant_json(run.closed_at) if run.closed_at else None,
        "lateness": round(run.lateness.total_seconds(), 3),
        "duration": round(span.total_seconds(), 3) if (span := run.duration) is not None else None,
        "attempts": run.result.attempts if run.result else None,
        "workflow_runs": run.links,
        "build": run.build or None,
    }


def instant_json(at: datetime) -> str:
    """RFC 3339 in UTC, milliseconds."""
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def occurrence_row(occurrence: Occurrence, timezone: str) -> dict[str, str]:
    """A row by the names in COLUMNS."""
    run = occurrence.run
    row = {"scheduled time": local_text(occurrence.scheduled_at, timezone), "outcome": occurrence.verdict}
    if run is None:
        return {**row, "reason": f"no run: {occurrence.reason}"}
    span, attempts = run.duration, run.result.attempts if run.result else None
    notes = [origin_text(occurrence), occurrence.reason]
    if occurrence.others:
        notes.append(f"run {len(occurrence.others) + 1} times")
    return {
        **row,
        "lateness": span_text(run.lateness),
        "duration": span_text(span) if span is not None else "",
        "attempts": str(attempts) if attempts is not None else "",
        "reason": "; ".join(note for note in notes if note),
    }


def span_text(span: timedelta) -> str:
    """Two units at the most, seconds with a fraction where there are few: `0.08s`, `2m05s`, `3h10m`, `2d04h`."""
    seconds = span.total_seconds()
    if seconds < 0:
        return f"-{span_text(-span)}"
    if seconds < MINUTE:
        return f"{seconds:.2f}s" if seconds < MINUTE / 6 else f"{seconds:.0f}s"
    whole = round(seconds)
    if whole < HOUR:
        return f"{whole // MINUTE}m{whole % MINUTE:02}s"
    if whole < DAY:
        return f"{whole // HOUR}h{whole % HOUR // MINUTE:02}m"
    return f"{whole // DAY}d{whole % DAY // HOUR:02}h"
