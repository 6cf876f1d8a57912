"""The times at which the schedule of a late run was due, from what the schedule tells of itself. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from activities.account.due_times import DueTimes, Occurrences, Span, without
from activities.account.history import last_write
from activities.account.record import time_of
from activities.conflict_token import is_v2
from activities.late.decision import instant
from activities.note import ended_pause, paused_at, synced_at
from activities.occurrence import scheduled_time

if TYPE_CHECKING:
    from collections.abc import Callable

    from temporalio.api.schedule.v1 import ScheduleActionResult, ScheduleSpec
    from temporalio.api.workflowservice.v1 import DescribeScheduleResponse

    from activities.account.record import SchedulerRecord
    from activities.contract import LateStart, TimesRequest

BEGIN, FOREVER = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Calendar:
    """Makes the times of a job's request, and of a schedule's spec, ready to be asked for."""

    of_request: Callable[[TimesRequest], Occurrences]
    of_spec: Callable[[ScheduleSpec], Occurrences]


def due_times(
    late: LateStart,
    calendar: Calendar,
    earlier: Occurrences,
    schedule: DescribeScheduleResponse,
    record: SchedulerRecord,
) -> DueTimes:
    """The times at which the schedule was due, up to now; before its spec was last written those were `earlier`."""
    scheduled, state = instant(late.scheduled_at), schedule.schedule.state
    changed = _spec_since(schedule)
    spans = [
        Span(BEGIN, changed, earlier),
        Span(changed, FOREVER, calendar.of_spec(schedule.schedule.spec)),
    ]
    if record.knows(scheduled):
        pauses = record.pauses(scheduled, instant(late.first_task_at), paused_now=state.paused)
    else:
        ended = ended_pause(state.notes)
        pauses = [(_paused_since(schedule), FOREVER)] if state.paused else [ended] if ended else []
    if state.limited_actions and not state.remaining_actions:
        started = [at for each in schedule.info.recent_actions if (at := scheduled_time(id_of(each)))]
        pauses.append((max([scheduled, *started]), FOREVER))
    return DueTimes(without(spans, pauses))


def _spec_since(schedule: DescribeScheduleResponse) -> datetime:
    """When the spec was written: by the note of a sync on V2, where every trigger and backfill moves the time of the update, too."""
    updated, synced = time_of(schedule.info.update_time), synced_at(schedule.schedule.state.notes)
    if not is_v2(schedule.conflict_token) or synced is None:
        return updated
    return min(updated, synced[1])


def _paused_since(schedule: DescribeScheduleResponse) -> datetime:
    """The begin of a pause that goes on; where the note does not tell it, that of the last write."""
    return paused_at(schedule.schedule.state.notes) or last_write(schedule)


def id_of(action: ScheduleActionResult) -> str:
    """The workflow id of a start of the schedule."""
    return action.start_workflow_result.workflow_id
