"""A namespace of schedules, and somebody who works in it by hand: the twin's, and a real server's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from temporalio.client import Client, ScheduleUpdate, ScheduleUpdateInput

from schedules.model import DesiredSchedule, ListedSchedule, ObservedSchedule, RuntimeState, Times
from schedules.server.gateway import TemporalGateway
from schedules.server.port import Schedules
from schedules.testing import Habits, SchedulesInMemory


class World(Protocol):
    """What a case needs: the port, hands, and patience."""

    @property
    def schedules(self) -> Schedules: ...

    async def pause(self, schedule_id: str, note: str) -> None: ...
    async def edit(self, schedule_id: str, times: Times) -> None: ...
    async def trigger(self, schedule_id: str) -> None: ...
    async def foreign(self, desired: DesiredSchedule) -> None:
        """Makes a schedule with no mark of ours."""

    async def listed(self, owner: str, count: int) -> list[ListedSchedule]:
        """What List shows once it shows so many."""


class TwinWorld:
    """In memory; the operator's hands are the twin's own methods."""

    def __init__(self, habits: Habits) -> None:
        self.twin = SchedulesInMemory(habits)

    @property
    def schedules(self) -> Schedules:
        return self.twin

    async def pause(self, schedule_id: str, note: str) -> None:
        state = self.twin.kept[schedule_id].state
        self.twin.edit(schedule_id, state=RuntimeState(True, note, state.remaining_actions))

    async def edit(self, schedule_id: str, times: Times) -> None:
        self.twin.edit(schedule_id, times=times)

    async def trigger(self, schedule_id: str) -> None:
        self.twin.trigger(schedule_id)

    async def foreign(self, desired: DesiredSchedule) -> None:
        self.twin.put(desired)

    async def listed(self, owner: str, count: int) -> list[ListedSchedule]:
        self.twin.settle()
        return await self.twin.owned(owner)


class ServerWorld:
    """A real server; the operator uses the SDK."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.gateway = TemporalGateway(client)

    @property
    def schedules(self) -> Schedules:
        return self.gateway

    async def pause(self, schedule_id: str, note: str) -> None:
        await self.client.get_schedule_handle(schedule_id).pause(note=note)
        await self._shown(schedule_id, lambda observed: observed.state.note == note)

    async def edit(self, schedule_id: str, times: Times) -> None:
        (calendar,) = times.calendars

        async def edited(given: ScheduleUpdateInput) -> ScheduleUpdate:
            schedule = given.description.schedule
            schedule.spec.calendars, schedule.spec.intervals, schedule.spec.jitter = [], [], None
            schedule.spec.cron_expressions = [f"{calendar.minute[0].start} {calendar.hour[0].start} * * *"]
            schedule.spec.time_zone_name = times.timezone
            return ScheduleUpdate(schedule)

        await self.client.get_schedule_handle(schedule_id).update(edited)
        await self._shown(schedule_id, lambda observed: observed.times == times)

    async def trigger(self, schedule_id: str) -> None:
        await self.client.get_schedule_handle(schedule_id).trigger()

    async def foreign(self, desired: DesiredSchedule) -> None:
        """Made by the SDK, with a cron string."""
        from temporalio.client import Schedule, ScheduleActionStartWorkflow, ScheduleSpec

        action = ScheduleActionStartWorkflow(desired.action.workflow_type, id=desired.id, task_queue="theirs")
        await self.client.create_schedule(desired.id, Schedule(action, ScheduleSpec(cron_expressions=["0 8 * * 1-5"])))

    async def listed(self, owner: str, count: int) -> list[ListedSchedule]:
        while len(found := await self.schedules.owned(owner)) != count:
            pass
        return found

    async def _shown(self, schedule_id: str, holds: Callable[[ObservedSchedule], bool]) -> None:
        while not ((observed := await self.schedules.describe(schedule_id)) and holds(observed)):
            pass
