"""The story of one occurrence, or why it did not run, with the evidence. Reads Temporal."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING
from urllib.parse import quote

from activities.account.why_late import why_late
from activities.occurrence import stamp
from schedules.ledger.selection import asked_for, job_or_its_past

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from temporalio.api.history.v1 import HistoryEvent

    from activities.account.facts import Run
    from activities.account.record import SchedulerRecord
    from schedules.ledger.due import Due
    from schedules.ledger.facts import Job
    from schedules.ledger.notices.notified import Notified
    from schedules.ledger.occurrences import Occurrence
    from schedules.ledger.records import Records
    from schedules.ledger.state import PauseEnd
    from schedules.ledger.story import Story


BY_SCHEDULE = frozenset({"schedule", "earlier_spec"})


@dataclass(frozen=True, slots=True)
class Explained:
    """`occurrence` is None where the time is none of the job's and nothing ran; `then` is what the spec of then says.

    `late` says what kept its run waiting.
    """

    job: Job
    due: Due
    now: datetime
    occurrence: Occurrence | None = None
    story: Story | None = None
    then: str = ""
    link: str = ""
    alerts: Notified | None = None
    pause_end: PauseEnd | None = None
    late: tuple[str, ...] = ()


def web_link(base: str, namespace: str, run: Run) -> str:
    """The run in Temporal's Web UI; empty without its address."""
    if not base:
        return ""
    return f"{base.rstrip('/')}/namespaces/{quote(namespace, '')}/workflows/{quote(run.id, '')}/{run.run_id}/history"


async def explain(records: Records, name: str, time: str, now: datetime, ui_url: str = "") -> Explained:
    """The story of an occurrence: of a time, of `last-failed`, or of the last that had to run. Raises SettingsError."""
    from schedules.ledger.account import account
    from schedules.ledger.due import due
    from schedules.ledger.notices.reading import notices_about
    from schedules.ledger.pauses import pause_end

    job = await job_or_its_past(records, name, now)
    found = due(job.times, await asked_for(records, job, time, now))
    known = await account(records, job, found.at, found.at, now)
    record = known.record or (await records.record(job.name, found.at, now) if found.at < now else None)
    then = _then(found, record)
    occurrences = known.occurrences
    if not occurrences and then and record:
        from schedules.ledger.occurrences import ledger
        from schedules.ledger.translate import times_at

        job_then = replace(job, times=times_at(record, found.at) or job.times)
        occurrences = ledger(job_then, known.runs, found.at, found.at, now, record)
    occurrence = next(iter(occurrences), None)
    told = Explained(job, found, now, occurrence, then=then, pause_end=await pause_end(records, job, now))
    if occurrence is None:
        return told
    if (run := occurrence.run) is None:
        return replace(told, alerts=await notices_about(records, job, occurrence, ()))
    if run.waiting:
        seen = (await _poller(records, run.task_queue),)
        told = replace(told, occurrence=replace(occurrence, evidence=(*occurrence.evidence, *seen)))
    events = await records.history(run.id, run.run_id)
    its_story = await _story(records, run, events)
    return replace(
        told,
        story=its_story,
        late=why_late(run, known.runs, job, its_story.taken_at, by_schedule=occurrence.origin in BY_SCHEDULE),
        alerts=await notices_about(records, job, occurrence, events),
        link=web_link(ui_url, records.client.namespace, run),
    )


async def _poller(records: Records, task_queue: str) -> str:
    from schedules.server.workers import Workers

    if await Workers(records.client).polls(task_queue):
        return f"workers poll task queue {task_queue}: they may be busy"
    return f"no worker polls task queue {task_queue}"


async def story(records: Records, run: Run) -> Story:
    """The story of a run so far."""
    return await _story(records, run, await records.history(run.id, run.run_id))


async def _story(records: Records, run: Run, events: Sequence[HistoryEvent]) -> Story:
    from schedules.ledger.story import story_of

    described = await records.described(run.id, run.run_id) if run.closed_at is None else None
    return await story_of(events, described.pending_activities if described else (), records.client.data_converter)


def _then(found: Due, record: SchedulerRecord | None) -> str:
    """The verdict by the schedule as it was then, where that is another than by today's."""
    from schedules.ledger.due import is_due
    from schedules.ledger.translate import times_at

    times = times_at(record, found.at) if record and record.knows(found.at) else None
    if times is None or record is None or is_due(times, found.at) == found.is_due:
        return ""
    change = record.change_after(found.at)
    changed = f", and the schedule was changed at {stamp(change.at)} by {change.by}" if change else ""
    return f"{'not ' if found.is_due else ''}due by the schedule of that time{changed}"
