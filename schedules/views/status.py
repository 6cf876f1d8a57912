"""The states of jobs as a table and as JSON. Pure."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from activities.note import paused_until
from activities.occurrence import stamp
from schedules.ledger.status import WORST_FIRST
from schedules.text.duration import format_duration
from schedules.times.moment import short_text
from schedules.views.notices import delivery_text, sent_json
from schedules.views.occurrences import instant_json, run_json, span_text

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from schedules.ledger.overview import Overview
    from schedules.ledger.state import JobState, OpenIncident

COLUMNS = (
    "job",
    "owner",
    "state",
    "next",
    "last",
    "outcome",
    "lateness",
    "failures",
    "missed",
    "skipped",
    "running",
    "why",
)
LEAST_FIRST = ("owner", "lateness", "skipped", "last", "running", "missed", "outcome", "next", "failures")
"""What is left out where there is no room; job, state and why stay."""


def state_row(state: JobState, now: datetime) -> dict[str, str]:
    """A row by the names in COLUMNS; times are those of the job's zone."""
    last, running = state.last, state.running
    return {
        "job": state.name,
        "owner": state.owner,
        "state": state.state.replace("_", " "),
        "next": _next(state),
        "last": short_text(last.scheduled_at, state.timezone) if last else "",
        "outcome": state.last_outcome or "",
        "lateness": span_text(now - last.scheduled_at if last.waiting else last.lateness) if last else "",
        "failures": str(state.failures or ""),
        "missed": _count(state, state.missed),
        "skipped": _count(state, state.skipped),
        "running": _running(state, now) if running else "",
        "why": "; ".join(part for part in (state.why, _pause_end(state), _incident(state)) if part),
    }


def _next(state: JobState) -> str:
    """The scheduled time, and by how much later jitter may let it start."""
    if state.next_at is None:
        return ""
    late = f" (up to +{format_duration(state.jitter)})" if state.jitter else ""
    return short_text(state.next_at, state.timezone) + late


def state_json(state: JobState) -> dict[str, Any]:
    """Times are RFC 3339 in UTC, spans are seconds; counts are null where the job's times are not all known."""
    last = state.last
    return {
        "job": state.name,
        "owner": state.owner,
        "state": state.state,
        "why": state.why,
        "timezone": state.timezone,
        "next": stamp(state.next_at) if state.next_at else None,
        "jitter": int(state.jitter.total_seconds()),
        "last": {"scheduled_at": stamp(last.scheduled_at), **run_json(last)} if last else None,
        "last_outcome": state.last_outcome,
        "consecutive_failures": state.failures,
        "missed": state.missed,
        "skipped": state.skipped,
        "counted_since": stamp(state.since) if state.since else None,
        "overdue": stamp(state.overdue) if state.overdue else None,
        "running": [{"scheduled_at": stamp(run.scheduled_at), **run_json(run)} for run in state.running],
        "paused": state.paused,
        "paused_at": instant_json(state.paused_at) if state.paused_at else None,
        "paused_by": state.paused_by or None,
        "note": state.note,
        "resumes_at": stamp(state.pause_end.at) if state.pause_end else None,
        "not_resumed_because": (state.pause_end.fault or None) if state.pause_end else None,
        "incident": _incident_json(state.incident) if state.incident else None,
    }


def summary(states: Sequence[JobState], found: Overview) -> str:
    """How many jobs are in which state, and since when is counted."""
    counts = Counter(state.state for state in states)
    told = ", ".join(f"{counts[state]} {state.replace('_', ' ')}" for state in WORST_FIRST if counts[state])
    jobs = f"{len(states):,} job{'' if len(states) == 1 else 's'}" + (f": {told}" if told else "")
    more = "" if found.complete else f" (only the last {found.runs:,} runs were read)"
    return f"{jobs}; counted since {stamp(found.since)}{more}"


def _pause_end(state: JobState) -> str:
    """What the note of the pause does not say itself."""
    end = state.pause_end
    return end.text if end and (end.fault or paused_until(state.note) is None) else ""


def _incident(state: JobState) -> str:
    if (incident := state.incident) is None:
        return ""
    began = f"incident open since {incident.since}"
    if incident.sent:
        newest = {(sent.channel, sent.event): sent for sent in incident.sent}
        return "; ".join([began, *map(delivery_text, newest.values())])
    if incident.after is None:
        return f"{began}; its channels are not known here"
    who = f"channels {', '.join(incident.channels)}" if incident.channels else "no channels"
    if state.failures < incident.after:
        return f"{began}; {who}: notice from failure {incident.after} on"
    return f"{began}; {who}" + (": no notice was sent yet" if incident.sent == () and incident.channels else "")


def _incident_json(incident: OpenIncident) -> dict[str, Any]:
    return {
        "since": incident.since,
        "told_from_failure": incident.after,
        "channels": None if incident.after is None else list(incident.channels),
        "notices": None if incident.sent is None else [sent_json(sent) for sent in incident.sent],
    }


def _count(state: JobState, count: int | None) -> str:
    if state.state == "missing":
        return ""
    return "?" if count is None else str(count or "")


def _running(state: JobState, now: datetime) -> str:
    first = min(run.started_at for run in state.running)
    more = f"{len(state.running)} × " if len(state.running) > 1 else ""
    waiting = " (waiting)" if all(run.waiting for run in state.running) else ""
    return f"{more}{span_text(max(now - first, timedelta(0)))}{waiting}"
