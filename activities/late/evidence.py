"""The evidence about a late start: the schedule's own record, the runs before this one, and signs of life of server and workers."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from activities.account.at_work import Untaken, untaken_at
from activities.account.due_times import DueTimes, Occurrences, Span
from activities.account.history import last_write
from activities.account.reading import RPC_TIMEOUT, described_schedule, scheduler_record
from activities.account.record import TRIGGER_DELAY, time_of
from activities.account.silence import ABSENCE, signs_of_life, within
from activities.contract import JobRequest
from activities.late.asked import asked_for
from activities.late.decision import SECOND, Evidence, instant, settled_before, started_late, waited_for_worker
from activities.late.due import BEGIN, due_times, id_of
from activities.late.queue import Queue
from activities.occurrence import scheduled_time
from activities.overlap import KEPT_BY_V2, overlap_policy

if TYPE_CHECKING:
    from temporalio.api.history.v1 import HistoryEvent
    from temporalio.api.workflowservice.v1 import DescribeScheduleResponse
    from temporalio.client import Client

    from activities.account.record import SchedulerRecord
    from activities.contract import LateStart, Repeat
    from activities.late.due import Calendar

FEW = 20
STAMP = re.compile(r" at (\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)")
CLOSED_BY_WORKERS = "ExecutionStatus IN ('Completed', 'Failed', 'Canceled')"


@dataclass(frozen=True, slots=True)
class Findings:
    """The evidence, the times that were due, and the newest time before this one that has a run of its own.

    `repeat` says that the run was asked for to repeat one on purpose.
    """

    evidence: Evidence
    due: Occurrences
    before: datetime | None = None
    repeat: Repeat | None = None


@dataclass(frozen=True, slots=True)
class Holder:
    """The run for which a start had to wait, with its history; `scheduled` is None for a run of another kind."""

    scheduled: datetime | None
    events: list[HistoryEvent]


class Witness:
    """Asks the server about one late start. Every method raises RPCError where it cannot be asked."""

    def __init__(self, client: Client, calendar: Calendar, late: LateStart, task_queue: str) -> None:
        self._client, self._late, self._task_queue = client, late, task_queue
        self._calendar = calendar
        self._scheduled, self._started = instant(late.scheduled_at), instant(late.started_at)
        self._grace = timedelta(seconds=late.catchup.late_after - late.catchup.jitter)

    async def findings(self) -> Findings:
        """All that decides about the run."""
        own = self._calendar.of_request(self._late.times)
        asked, repeat = await asked_for(self._client, self._late)
        if asked:
            return Findings(Evidence(by_hand=True), own, repeat=repeat)
        schedule = await described_schedule(self._client, self._late.schedule)
        if schedule is None:
            return await self._of_the_deleted(own)
        since = self._scheduled - timedelta(minutes=1)
        record = await scheduler_record(self._client, self._late.schedule, schedule, since)
        holder = await self._holder(schedule) if started_late(self._late) else None
        earlier = (await self._times_of(holder) if holder else None) or own
        due = due_times(self._late, self._calendar, earlier, schedule, record)
        if not any(_is_among(self._scheduled, times) for times in (own, earlier, due)):
            return Findings(Evidence(by_hand=True), due)
        evidence = await self._of_start(schedule, record, due, holder)
        before = await self._started_before(schedule) if evidence.back else None
        return Findings(evidence, due, before)

    async def _of_the_deleted(self, own: Occurrences) -> Findings:
        """Nothing was due after the newest run that the schedule has started."""
        query = f'TemporalScheduledById = "{self._late.schedule}" AND StartTime >= "{self._late.started_at}"'
        ids = [run.id async for run in self._client.list_workflows(query, limit=FEW, rpc_timeout=RPC_TIMEOUT)]
        last = max([self._scheduled, *(at for each in ids if (at := scheduled_time(each)))])
        is_missed = not started_late(self._late) and await self._no_worker_from(self._started)
        back = instant(self._late.first_task_at) if is_missed else None
        return Findings(Evidence(back=back), DueTimes([Span(BEGIN, last, own)]))

    async def _of_start(
        self, schedule: DescribeScheduleResponse, record: SchedulerRecord, due: Occurrences, holder: Holder | None
    ) -> Evidence:
        back = None
        if started_late(self._late):
            untaken = await self._untaken(holder) if holder else None
            if holder and untaken is None:
                return Evidence(by_hand=record.may_be_asked_for(self._scheduled))
            if await self._has_run_before() or self._may_be_asked_for(schedule, record, due, holder):
                return Evidence(by_hand=True)
            if untaken:
                return Evidence(back=untaken.end, resumed=untaken.end)
            back = await self._server_back(schedule, record, due)
        if waited_for_worker(self._late) and await self._no_worker_from(self._started):
            back = instant(self._late.first_task_at)
        return Evidence(back=back, resumed=self._first_start(schedule, back))

    def _first_start(self, schedule: DescribeScheduleResponse, back: datetime | None) -> datetime | None:
        """When the schedule started its first run since the server was back."""
        starts = [time_of(each.actual_time) for each in schedule.info.recent_actions]
        return min([self._started, *(at for at in starts if at >= back)]) if back else None

    def _may_be_asked_for(
        self, schedule: DescribeScheduleResponse, record: SchedulerRecord, due: Occurrences, holder: Holder | None
    ) -> bool:
        """Whether a trigger or a backfill may have started the run, under an id that was not used before.

        Where no record tells, a start that the overlap policy keeps waiting by itself comes before any that is asked for.
        """
        created = time_of(schedule.info.create_time)
        if record.knows(max(self._scheduled - TRIGGER_DELAY, min(created, self._scheduled)), self._started):
            return record.may_be_asked_for(self._scheduled)
        if holder is not None and holder.scheduled is not None:
            kept = due.count_between(holder.scheduled + SECOND, self._scheduled)
            if overlap_policy(self._late.catchup.overlap).keeps_all or kept < KEPT_BY_V2:
                return False
        return not _is_of_ours(schedule)

    async def _has_run_before(self) -> bool:
        """Whether there was a run under the same id; the schedule itself never uses one again."""
        runs = self._client.list_workflows(
            f'WorkflowId = "{self._late.workflow_id}"', limit=FEW, rpc_timeout=RPC_TIMEOUT
        )
        return any([run.run_id != self._late.run_id async for run in runs])

    async def _holder(self, schedule: DescribeScheduleResponse) -> Holder | None:
        """The run of the schedule that held this one back, and had ended when it started."""
        held = await Queue(self._client, self._late, schedule, self._grace).holder(self._due_at(schedule))
        if held is None:
            return None
        handle = self._client.get_workflow_handle(held.id, run_id=held.run_id)
        return Holder(
            scheduled_time(held.id), [event async for event in handle.fetch_history_events(rpc_timeout=RPC_TIMEOUT)]
        )

    async def _times_of(self, holder: Holder) -> Occurrences | None:
        """The times of the schedule when it started a run: they may have been changed since."""
        given = holder.events[0].workflow_execution_started_event_attributes.input.payloads
        try:
            [request, *_] = await self._client.data_converter.decode(given, [JobRequest])
        except Exception:  # noqa: BLE001  no request of ours, or one whose key is missing
            return None
        return self._calendar.of_request(request.times)

    def _due_at(self, schedule: DescribeScheduleResponse) -> datetime:
        """The scheduled time with its jitter, where the schedule still tells it."""
        own = (each for each in schedule.info.recent_actions if id_of(each) == self._late.workflow_id)
        return max(self._scheduled, *(time_of(each.schedule_time) for each in own), self._scheduled)

    async def _untaken(self, holder: Holder) -> Untaken | None:
        """When no worker had the run before this one, though this one was due."""
        began = time_of(holder.events[0].event_time)
        found = untaken_at(holder.events, max(self._scheduled, began), timedelta(seconds=self._late.catchup.late_after))
        if found is None:
            return None
        since = {
            found.begin,
            max(self._scheduled, began),
        }  # workers that were there at first may be away at this run's time
        return found if any([await self._no_worker_from(each) for each in since]) else None

    async def _no_worker_from(self, begin: datetime) -> bool:
        """Whether no worker of the task queue has ended a run in the time in which it should have taken another one."""
        late_after = timedelta(seconds=self._late.catchup.late_after)
        query = f'TaskQueue = "{self._task_queue}" AND {CLOSED_BY_WORKERS}'
        return not await self._count(f"{query} AND {within('CloseTime', begin, late_after)}")

    async def _server_back(
        self, schedule: DescribeScheduleResponse, record: SchedulerRecord, due: Occurrences
    ) -> datetime | None:
        """When the server was back that was away at the run's time; None where that is not proven."""
        at = self._due_at(schedule)
        if record.has_signs(at):
            sign = record.sign_from(at + self._grace / 4) or self._started
            silent = record.sign_before(at)
            first = due.next_after(silent) if silent else None
            is_away = sign - at > self._grace and sign - min(first or at, at) >= ABSENCE
            return sign if is_away else None
        starts = [time_of(each.actual_time) for each in schedule.info.recent_actions]
        back = min([self._started, *(each for each in starts if each >= at)])
        if back - at <= max(self._grace, ABSENCE):
            return None
        return None if await self._count(signs_of_life(at, self._grace)) else back

    async def _count(self, query: str) -> int:
        return (await self._client.count_workflows(query, rpc_timeout=RPC_TIMEOUT)).count

    async def _started_before(self, schedule: DescribeScheduleResponse) -> datetime | None:
        """See `settled_before`; the schedule starts none before it was created."""
        query = (
            f'TemporalScheduledById = "{self._late.schedule}" AND TemporalScheduledStartTime < "{self._late.scheduled_at}"'
            f' AND StartTime <= "{self._late.started_at}"'
        )
        runs = [run async for run in self._client.list_workflows(query, limit=FEW, rpc_timeout=RPC_TIMEOUT)]
        ids = [*(run.id for run in runs), *(id_of(each) for each in schedule.info.recent_actions)]
        times = [time_of(schedule.info.create_time), *map(scheduled_time, ids)]
        return settled_before(self._late, times, [run.close_time for run in runs])


def _is_of_ours(schedule: DescribeScheduleResponse) -> bool:
    """Whether the note tells the time of the last write: a sync, a pause or its end."""
    told = [instant(each) for each in STAMP.findall(schedule.schedule.state.notes)]
    return any(abs(last_write(schedule) - at) <= TRIGGER_DELAY for at in told)


def _is_among(at: datetime, times: Occurrences) -> bool:
    return times.next_after(at - SECOND) == at
