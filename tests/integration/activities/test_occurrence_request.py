"""One request for one occurrence, on both of Temporal's schedulers: taken once, whatever becomes of its answer."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest
from temporalio.client import (
    Client,
    Schedule,
    ScheduleActionStartWorkflow,
    ScheduleIntervalSpec,
    ScheduleSpec,
)
from temporalio.exceptions import ApplicationError
from temporalio.service import RPCError, RPCStatusCode

from activities.contract import NO_SUCH_TIME, UNCERTAIN, OccurrenceAsk
from activities.occurrence_request import OccurrenceRequest
from tests.integration.operating import HOUR, hours_ago, stamp

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

JITTER = timedelta(minutes=30)


class Lossy:
    """A server whose answers to patches get lost: `taken` says whether it has taken them."""

    def __init__(self, client: Client, *, taken: bool) -> None:
        self._service, self._taken = client.workflow_service, taken

    def __getattr__(self, name: str) -> Any:
        return getattr(self._service, name)

    async def patch_schedule(self, request: Any, **options: Any) -> Any:
        if self._taken:
            await self._service.patch_schedule(request, **options)
        raise RPCError("lost", RPCStatusCode.UNAVAILABLE, b"")


def through(client: Client, service: Any) -> Client:
    """The client, whose calls of the workflow service go another way."""
    made = SimpleNamespace(
        namespace=client.namespace, workflow_service=service, get_workflow_handle=client.get_workflow_handle
    )
    return cast("Client", made)


@pytest.fixture
async def schedule(either_client: Client, name: str) -> AsyncIterator[str]:
    """A schedule of every hour, whose runs nobody takes."""
    await make(either_client, name)
    yield name
    await either_client.get_schedule_handle(name).delete()


async def make(client: Client, name: str, jitter: timedelta | None = None) -> None:
    action = ScheduleActionStartWorkflow("nobody", id=name, task_queue=name)
    await client.create_schedule(
        name, Schedule(action, ScheduleSpec(intervals=[ScheduleIntervalSpec(HOUR)], jitter=jitter))
    )


async def ask_for(client: Client, schedule: str, at: str, **fields: Any) -> OccurrenceAsk:
    token = (await client.get_schedule_handle(schedule).describe()).raw_description.conflict_token.hex()
    given = {"by": "test", "request_id": f"{schedule}-{at}", "version": token, **fields}
    return OccurrenceAsk(schedule, f"{schedule}-{at}", at, **given)


async def starts(client: Client, schedule: str) -> tuple[list[str], int]:
    """The ids of the runs that the schedule started, and how many starts it holds back."""
    described = await client.get_schedule_handle(schedule).describe()
    info = described.raw_description.info
    return [each.start_workflow_result.workflow_id for each in info.recent_actions], info.buffer_size


async def until_starts(client: Client, schedule: str, wanted: tuple[list[str], int]) -> None:
    async with asyncio.timeout(60):
        while await starts(client, schedule) != wanted:  # noqa: ASYNC110  the server tells nobody
            await asyncio.sleep(0.1)


async def test_the_run_has_the_id_of_the_time(either_client: Client, schedule: str) -> None:
    at = stamp(hours_ago(5))
    await OccurrenceRequest(either_client, await ask_for(either_client, schedule, at)).send(1)
    await until_starts(either_client, schedule, ([f"{schedule}-{at}"], 0))


async def test_a_time_with_jitter_runs_and_no_other(either_client: Client, name: str) -> None:
    await make(either_client, name, JITTER)
    for count in range(2, 8):
        at = stamp(hours_ago(count))
        ask = await ask_for(either_client, name, at, side_by_side=True)
        await OccurrenceRequest(either_client, ask).send(1)
        async with asyncio.timeout(60):
            while len((await starts(either_client, name))[0]) < count - 1:  # noqa: ASYNC110  nor now
                await asyncio.sleep(0.1)
    await asyncio.sleep(0.5)
    ids, waiting = await starts(either_client, name)
    assert (ids, waiting) == ([f"{name}-{stamp(hours_ago(count))}" for count in range(2, 8)], 0)


async def test_a_time_that_the_schedule_does_not_have_is_not_asked_for(either_client: Client, schedule: str) -> None:
    ask = await ask_for(either_client, schedule, stamp(hours_ago(5) + timedelta(minutes=7)))
    with pytest.raises(ApplicationError) as refused:
        await OccurrenceRequest(either_client, ask).send(1)
    assert refused.value.type == NO_SUCH_TIME


async def test_a_request_whose_answer_was_lost_is_taken_once(either_client: Client, schedule: str) -> None:
    first, second = stamp(hours_ago(5)), stamp(hours_ago(4))
    await OccurrenceRequest(either_client, await ask_for(either_client, schedule, first)).send(1)
    await until_starts(either_client, schedule, ([f"{schedule}-{first}"], 0))
    ask = await ask_for(either_client, schedule, second)
    lossy = through(either_client, Lossy(either_client, taken=True))

    with pytest.raises(RPCError):
        await OccurrenceRequest(lossy, ask).send(1)
    await until_starts(either_client, schedule, ([f"{schedule}-{first}"], 1))
    await OccurrenceRequest(either_client, ask).send(2)
    await asyncio.sleep(1)

    assert await starts(either_client, schedule) == ([f"{schedule}-{first}"], 1)


async def test_a_request_that_got_lost_is_made_again(either_client: Client, schedule: str) -> None:
    at = stamp(hours_ago(5))
    ask = await ask_for(either_client, schedule, at)
    lossy = through(either_client, Lossy(either_client, taken=False))

    with pytest.raises(RPCError):
        await OccurrenceRequest(lossy, ask).send(1)
    await OccurrenceRequest(either_client, ask).send(2)

    await until_starts(either_client, schedule, ([f"{schedule}-{at}"], 0))


async def test_what_was_asked_for_often_enough_is_not_asked_for_again(either_client: Client, schedule: str) -> None:
    ask = await ask_for(either_client, schedule, stamp(hours_ago(5)), number=3)
    with pytest.raises(ApplicationError) as ended:
        await OccurrenceRequest(either_client, ask).send(1)
    assert ended.value.type == UNCERTAIN
    assert await starts(either_client, schedule) == ([], 0)


async def test_what_v2_took_and_did_not_start_is_not_asked_for_again(v2_server: Any, name: str) -> None:
    client = await Client.connect(v2_server.address)
    await make(client, name)
    at = stamp(hours_ago(5))
    ask = await ask_for(client, name, at, version="00", number=1)
    with pytest.raises(ApplicationError) as ended:
        await OccurrenceRequest(client, ask).send(1)
    assert ended.value.type == UNCERTAIN
