"""The whole story of one occurrence, as a value, as text and as JSON. Pure."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from activities.occurrence import stamp
from schedules.console.table import one_line
from schedules.ledger.explain import Explained
from schedules.spec.describe import written_of
from schedules.text.duration import format_duration
from schedules.times.moment import local_text
from schedules.views.logs import last_lines
from schedules.views.notices import alert_lines, alerts_json
from schedules.views.occurrences import instant_json, occurrence_json, origin_text, span_text

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from activities.account.facts import Run
    from schedules.ledger.due import Due
    from schedules.ledger.occurrences import Occurrence
    from schedules.ledger.story import StepStory, Story

Line = tuple[str, str]
LABEL = 11
LONGEST_LINE = 1_000
KINDS = {
    "due": "yes, by the current schedule",
    "excluded": "no: the day is excluded",
    "no_such_time": "no: this local time does not exist",
    "not_scheduled": "no: it is not a scheduled time of the job",
}


def explained_json(told: Explained) -> dict[str, Any]:
    """Times are RFC 3339 in UTC; `occurrence` is as in `runs --output json`, or null."""
    due, story, said = told.due, told.story, written_of(told.job.details)
    return {
        "job": told.job.name,
        "owner": told.job.owner,
        "timezone": told.job.times.timezone,
        "scheduled_at": stamp(due.at),
        "due": "new_build" if _for_a_build(told) else due.kind,
        "due_then": told.then or None,
        "notes": list(due.notes),
        "before": stamp(due.before) if due.before else None,
        "after": stamp(due.after) if due.after else None,
        "occurrence": occurrence_json(told.occurrence) if told.occurrence else None,
        "taken_at": instant_json(story.taken_at) if story and story.taken_at else None,
        "taken_by": story.taken_by if story else None,
        "ended_by": story.ended_by if story else None,
        "task_failure": story.task_failure if story else None,
        "steps": [_step_json(step) for step in story.steps] if story else [],
        "link": told.link or None,
        "resumes_at": stamp(told.pause_end.at) if told.pause_end else None,
        "not_resumed_because": (told.pause_end.fault or None) if told.pause_end else None,
        "alerts": alerts_json(told.alerts) if told.alerts else None,
        "late_because": list(told.late),
        "description": said.description or None,
        "contact": said.contact or None,
        "runbook": said.runbook or None,
    }


def explained_text(told: Explained) -> str:
    """Lines for a person; times are those of the job's zone."""
    owner = f" of {told.job.owner}" if told.job.owner else ""
    lines = [f"  {label:<{LABEL}}{one_line(text, LONGEST_LINE)}" for label, text in explained_lines(told)]
    return "\n".join([f"{told.job.name}{owner}", *lines])


def explained_lines(told: Explained) -> list[Line]:
    """What there is to tell, each line with its label; an empty one goes on with the line before."""
    zone, due = told.job.times.timezone, told.due
    said = written_of(told.job.details)
    lines = [
        *(
            (label, text)
            for label, text in (("about", said.description), ("contact", said.contact), ("runbook", said.runbook))
            if text
        ),
        ("time", f"{local_text(due.at, zone)} ({stamp(due.at)})"),
        ("outcome", _outcome(told)),
        ("due", _due(told)),
    ]
    lines += [("", note) for note in due.notes]
    if not due.is_due and not _for_a_build(told):
        lines += _nearest(due, zone)
    if told.occurrence:
        lines += [("evidence", each) for each in told.occurrence.evidence]
        lines += _run_lines(told, told.occurrence)
    if told.pause_end:
        lines.append(("pause", told.pause_end.text))
    if told.alerts:
        lines += alert_lines(told.alerts)
    return lines


def _outcome(told: Explained) -> str:
    occurrence = told.occurrence
    if occurrence is None:
        return "nothing ran, as expected"
    probably = "" if occurrence.certain else " (probably)"
    missing = "no run: " if occurrence.run is None else ""
    reason = f": {missing}{occurrence.reason}" if occurrence.reason else ""
    return f"{occurrence.verdict}{probably}{reason}"


def _for_a_build(told: Explained) -> bool:
    """Whether a new build of the workers started it, at a time that is none of the schedule."""
    return bool(told.occurrence and told.occurrence.run and told.occurrence.run.build) and not told.due.is_due


def _due(told: Explained) -> str:
    if _for_a_build(told):
        return "yes: a new build of the workers started (@reboot)"
    if told.job.deleted_at:
        return KINDS[told.due.kind].replace("the current schedule", "its last known schedule")
    return KINDS[told.due.kind] + (f"; {told.then}" if told.then else "")


def _nearest(due: Due, zone: str) -> Iterator[Line]:
    for word, at in (("before", due.before), ("after", due.after)):
        yield (word, f"{local_text(at, zone)} ({stamp(at)})" if at else "no scheduled time")


def _run_lines(told: Explained, occurrence: Occurrence) -> Iterator[Line]:
    run, story, zone = occurrence.run, told.story, told.job.times.timezone
    if run is None:
        return
    how = origin_text(occurrence) or "by the schedule"
    late = span_text(run.started_at - run.scheduled_at)
    yield "started", f"{local_text(run.started_at, zone)}, {late} after the scheduled time, {how}"
    yield from (("late", reason) for reason in told.late)
    yield from _taken(run, story)
    if run.links > 1:
        yield "chain", f"{run.links} workflow runs: the server retried it, or it continued as new"
    for earlier in occurrence.others:
        yield "earlier", f"run {earlier.run_id}, started {stamp(earlier.started_at)}: {earlier.verdict}"
    if story:
        yield from _story_lines(story, told.now)
    if run.closed_at and run.duration is not None:
        yield "ended", f"{local_text(run.closed_at, zone)}, after {span_text(run.duration)}"
    if run.result and run.result.not_run:
        account = run.result.not_run
        yield "left out", f"{account.count} from {account.first} to {account.last}: {account.reason}"
    yield "run", f"{run.id} {run.run_id}"
    if story and any(printed.streams for step in story.steps for printed in step.printed):
        yield "output", f"tickwright logs {told.job.name} {stamp(run.scheduled_at)}"
    if told.link:
        yield "link", told.link


def _taken(run: Run, story: Story | None) -> Iterator[Line]:
    if story and story.taken_at:
        waited = span_text(story.taken_at - run.started_at)
        yield "taken", f"after {waited} in task queue {run.task_queue}, by worker {story.taken_by}"


def _story_lines(story: Story, now: datetime) -> Iterator[Line]:
    for step in story.steps:
        yield "step", f"{step.name}: {_step(step, now)}"
        for number, error in enumerate(step.errors, step.attempts - len(step.errors) + 1 - _before(step)):
            yield "", f"attempt {max(number, 1)}: {error}"
        for stream, text in last_lines(step):
            yield "", f"{stream}: {text}"
        if step.heartbeat is not None:
            age = f", {span_text(now - step.heartbeat_at)} ago" if step.heartbeat_at else ""
            yield "", f"last heartbeat{age}: {step.heartbeat}"
    if story.ended_by:
        yield "by", story.ended_by
    if story.task_failure:
        yield "fault", f"the workflow's code failed and will be tried again: {story.task_failure}"


def _before(step: StepStory) -> int:
    """1 where the last attempt has no error of its own: it succeeded, goes on, or is still to come."""
    return int(step.end in {"succeeded", "running", "waiting", "cancelled"})


def _step(step: StepStory, now: datetime) -> str:
    tried = f", attempt {step.attempts}" if step.attempts else ""
    child = f" ({step.workflow_id})" if step.workflow_id else ""
    if step.end == "waiting" and step.retry_at and step.retry_at > now:
        return f"waits for attempt {step.attempts}, in {format_duration(_whole(step.retry_at, now))}{child}"
    if step.end == "waiting":
        return f"waits for a worker in task queue {step.task_queue}{tried}{child}"
    if step.end == "running":
        since = f", for {span_text(now - step.started_at)}" if step.started_at else ""
        return f"running{since}{tried}{f', by {step.worker}' if step.worker else ''}{child}"
    took = f" after {span_text(step.closed_at - step.scheduled_at)}" if step.closed_at else ""
    return f"{step.end}{took}{tried}{child}"


def _whole(at: datetime, now: datetime) -> timedelta:
    return timedelta(seconds=round((at - now).total_seconds()))


def _step_json(step: StepStory) -> dict[str, Any]:
    times = {
        name: getattr(step, name) for name in ("scheduled_at", "started_at", "closed_at", "retry_at", "heartbeat_at")
    }
    return {
        "name": step.name,
        "kind": step.kind,
        "state": step.end,
        "attempts": step.attempts,
        "errors": list(step.errors),
        "worker": step.worker,
        "task_queue": step.task_queue,
        "heartbeat": step.heartbeat,
        "workflow_id": step.workflow_id or None,
        **{name: instant_json(at) if at else None for name, at in times.items()},
    }
