"""The workflow that keeps an incident, with time skipped and a schedule that a script plays."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

import pytest
from temporalio import activity
from temporalio.client import Client, WorkflowHandle
from temporalio.service import RPCError
from temporalio.testing import WorkflowEnvironment
from temporalio.worker import Worker

from activities.notices.contract import (
    ENDED_SIGNAL,
    INCIDENT_MEMO,
    INCIDENT_WORKFLOW,
    SEND_NOTICE,
    TEND_SCHEDULE,
    AlertRequest,
    Delivery,
    IncidentState,
    Report,
    Standing,
    Success,
    Target,
    Tended,
    Tending,
)
from tests.servers import TEST_SERVER, DevServer
from workflows.incident import IncidentWorkflow
from workflows.streak import FIRST_LOOK, LAST_LOOK, RARELY

HOOK = [Target("hook", url="https://hook.example")]


@dataclass
class Play:
    """What the schedule answers, what was done to it when, and what people were told."""

    environment: WorkflowEnvironment
    standing: Standing = "going"
    success: Success | None = None
    deeds: list[tuple[str, float]] = field(default_factory=list)
    told: list[str] = field(default_factory=list)
    delay: Callable[[], Any] | None = None
    away: bool = False

    async def now(self) -> float:
        return (await self.environment.get_current_time()).timestamp()

    @property
    def activities(self) -> list[Callable[..., Any]]:
        @activity.defn(name=TEND_SCHEDULE)
        async def tend(tending: Tending) -> Tended:
            self.deeds.append((tending.deed, activity.info().started_time.timestamp()))
            if self.delay is not None:
                await self.delay()
            changed = tending.deed == "pause" and self.standing == "going"
            if changed:
                self.standing = "paused_by_us"
            after_that = self.success if self.success and tending.since < self.success.ended_at else None
            return Tended(self.standing, changed, after_that if tending.deed == "look" else None)

        @activity.defn(name=SEND_NOTICE)
        async def send(delivery: Delivery) -> None:
            if self.away:
                raise RuntimeError("the service is away")
            self.told.append(f"{delivery.notice.event} {delivery.notice.failures}")

        return [tend, send]

    def looks(self) -> list[float]:
        """Seconds between each look and the deed before it."""
        times = [at for _, at in self.deeds]
        return [round(after - before) for before, after in pairwise(times)]


@pytest.fixture
async def time() -> AsyncIterator[WorkflowEnvironment]:
    """A server for each test: what waits for a worker in a run that another test has left keeps time from being skipped."""
    environment = await WorkflowEnvironment.start_time_skipping(test_server_existing_path=str(TEST_SERVER))
    async with environment:
        yield environment


@pytest.fixture
async def play(time: WorkflowEnvironment, name: str) -> AsyncIterator[Play]:
    made = Play(time)
    async with Worker(time.client, task_queue=name, workflows=[IncidentWorkflow], activities=made.activities):
        yield made
        with suppress(RPCError):
            await time.client.get_workflow_handle(name).terminate()


def report(number: int, at: float, outcome: str = "failed", **fields: Any) -> Report:
    alerts = fields.pop("alerts", AlertRequest(HOOK))
    ended, due = stamp(at), f"2027-03-01T13:00:{number:02}Z"
    who, run = ("billing", "production", "ledger", "UTC"), (f"ledger-{due}", f"run-{number}")
    usual = {"ended_at": ended, "handed_on": True, "after_failure": number > 1}
    return Report(*who, outcome, due, "", 1, 1.0, "", *run, alerts, **{**usual, **fields})


def stamp(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat()


def success(at: float) -> Success:
    return Success("2027-03-01T14:00:00Z", "ledger-2027-03-01T14:00:00Z", "run-good", stamp(at), 1, 1.0)


async def begin(
    client: Client, name: str, first: Report, state: IncidentState | None = None
) -> WorkflowHandle[Any, Any]:
    return await client.start_workflow(
        INCIDENT_WORKFLOW,
        state or IncidentState(),
        id=name,
        task_queue=name,
        start_signal=ENDED_SIGNAL,
        start_signal_args=[first],
        memo={INCIDENT_MEMO: {"since": first.scheduled_at}},
    )


async def until(holds: Callable[[], object]) -> None:
    async with asyncio.timeout(60):
        while not holds():  # noqa: ASYNC110 - other tasks set no event
            await asyncio.sleep(0.02)


async def later(play: Play, holds: Callable[[], object]) -> None:
    """Lets time pass, a minute and another, until something has happened; one that the server does not skip passes, too."""
    async with asyncio.timeout(200):
        while not holds():
            with suppress(RPCError):  # A minute that is not skipped takes longer than the call may.
                await play.environment.sleep(60)
            await asyncio.sleep(0.02)


async def test_it_looks_soon_and_then_rarely_where_no_run_can_know_that_it_has_to_tell(play: Play, name: str) -> None:
    await begin(play.environment.client, name, report(1, await play.now(), handed_on=False))
    await later(play, lambda: len(play.deeds) == 20)
    looks = play.looks()
    assert min(looks) >= FIRST_LOOK
    assert max(looks) <= LAST_LOOK + 1
    assert looks == sorted(looks)


async def test_it_looks_each_hour_where_the_next_run_knows(play: Play, name: str) -> None:
    await begin(play.environment.client, name, report(1, await play.now()))
    await later(play, lambda: len(play.deeds) == 5)
    assert play.looks() == [RARELY] * 4
    assert play.told == ["failure 1"]


async def test_a_success_of_which_nobody_told_is_told_once(play: Play, name: str) -> None:
    incident = await begin(play.environment.client, name, report(1, await play.now(), handed_on=False))
    await until(lambda: play.told)
    play.away = True
    play.success = success(await play.now() + 5)
    await play.environment.sleep(60)
    await incident.signal(ENDED_SIGNAL, good(play))
    play.away = False
    await incident.result()
    assert play.told == ["failure 1", "recovery 1"]


def good(play: Play) -> Report:
    """What the run that succeeded tells itself, later."""
    assert play.success is not None
    at = datetime.fromisoformat(play.success.ended_at).timestamp()
    return Report(**{**vars(report(2, at, "succeeded")), "run_id": play.success.run_id})


async def test_a_failure_before_the_success_that_ended_it_begins_no_incident(play: Play, name: str) -> None:
    now = await play.now()
    incident = await begin(play.environment.client, name, report(1, now))
    await until(lambda: play.told)
    play.away = True
    await incident.signal(ENDED_SIGNAL, report(3, now + 60, "succeeded"))
    await incident.signal(ENDED_SIGNAL, report(2, now + 30))
    await asyncio.sleep(0.5)
    play.away = False
    await incident.result()
    assert play.told == ["failure 1", "recovery 1"]


async def test_a_job_that_is_gone_ends_it_and_nobody_is_told(play: Play, name: str) -> None:
    incident = await begin(play.environment.client, name, report(1, await play.now()))
    await until(lambda: play.told)
    play.standing = "gone"
    await incident.result()
    assert play.told == ["failure 1"]


async def test_nobody_is_reminded_of_a_job_while_an_operator_has_paused_it(play: Play, name: str) -> None:
    alerts = AlertRequest(HOOK, remind_every=600.0)
    await begin(play.environment.client, name, report(1, await play.now(), alerts=alerts))
    await until(lambda: play.told)
    play.standing = "paused_by_other"
    await later(play, lambda: len(play.deeds) == 5)
    assert play.told == ["failure 1"]
    play.standing = "going"
    await later(play, lambda: len(play.told) == 2)
    assert play.told == ["failure 1", "reminder 1"]


async def test_a_reminder_that_finds_a_success_tells_of_the_recovery_instead(play: Play, name: str) -> None:
    alerts = AlertRequest(HOOK, remind_every=600.0)
    incident = await begin(play.environment.client, name, report(1, await play.now(), alerts=alerts))
    await until(lambda: play.told)
    play.success = success(await play.now() + 60)
    await incident.result()
    assert play.told == ["failure 1", "recovery 1"]


async def test_a_failure_that_follows_a_failure_costs_no_look(play: Play, name: str) -> None:
    now = await play.now()
    incident = await begin(play.environment.client, name, report(1, now))
    await incident.signal(ENDED_SIGNAL, report(2, now + 10))
    await incident.signal(ENDED_SIGNAL, report(3, now + 20, after_failure=False, success_before=success(now - 10)))
    await incident.signal(ENDED_SIGNAL, report(4, now + 30, after_failure=False, success_before=success(now + 25)))
    await until(lambda: len(play.told) == 3)
    assert play.told == ["failure 1", "recovery 3", "failure 1"]
    assert play.deeds == []


async def test_a_second_incident_in_the_same_workflow_is_listed_with_its_own_beginning(play: Play, name: str) -> None:
    now = await play.now()
    incident = await begin(play.environment.client, name, report(1, now))
    await incident.signal(ENDED_SIGNAL, report(4, now + 30, after_failure=False, success_before=success(now + 25)))
    await until(lambda: len(play.told) == 3)
    memo = await (await incident.describe()).memo()
    assert memo[INCIDENT_MEMO] == {"since": "2027-03-01T13:00:04Z", "after": 1, "channels": ["hook"]}


async def test_a_pause_that_was_told_recovers_and_is_reminded_of(play: Play, name: str) -> None:
    alerts = AlertRequest(HOOK, after=3, pause_after=2, remind_every=600.0)
    now = await play.now()
    incident = await begin(play.environment.client, name, report(1, now, alerts=alerts))
    await incident.signal(ENDED_SIGNAL, report(2, now + 1, alerts=alerts))
    await until(lambda: play.told)
    await later(play, lambda: len(play.told) == 2)
    await incident.signal(ENDED_SIGNAL, report(3, now + 700, alerts=alerts))  # tried by hand
    await incident.signal(ENDED_SIGNAL, report(4, now + 710, "succeeded"))
    await incident.result()
    assert play.told == ["paused 2", "reminder 2", "recovery 3"]


async def test_an_incident_of_an_earlier_release_is_looked_at_when_it_goes_on(play: Play, name: str) -> None:
    last = Report(**{**vars(report(1, 0.0)), "ended_at": "", "handed_on": False})
    before = IncidentState(failures=1, since=last.scheduled_at, first_run="run-1", told=True, seen=["run-1"], last=last)
    play.success = success(datetime(2027, 3, 2, tzinfo=UTC).timestamp())
    incident = await begin(play.environment.client, name, last, before)
    await incident.result()
    assert play.told == ["recovery 1"]


async def test_no_report_is_lost_that_comes_while_it_looks_and_is_about_to_begin_anew(
    start_server: Callable[..., DevServer], name: str
) -> None:
    """A report that arrives during the look at the end of a long history is taken over to the next one."""
    server = start_server(config=["limit.historyCount.suggestContinueAsNew=25"])
    client = await Client.connect(server.address)
    play, now = Play(WorkflowEnvironment.from_client(client)), datetime.now(UTC).timestamp()
    alerts = AlertRequest(HOOK, remind_every=0.3)
    async with Worker(client, task_queue=name, workflows=[IncidentWorkflow], activities=play.activities):
        incident = await begin(client, name, report(1, now, alerts=alerts))
        left = list(range(2, 12))

        async def report_another() -> None:
            if left:
                number = left.pop(0)
                await incident.signal(ENDED_SIGNAL, report(number, now + number, alerts=alerts))
                await asyncio.sleep(0.2)

        await until(lambda: play.told)
        play.standing, play.delay = "paused_by_other", report_another
        await until(lambda: not left)
        play.standing, play.delay = "going", None
        await until(lambda: len(play.told) == 2)
        assert (await incident.describe()).run_id != incident.first_execution_run_id
        await incident.signal(ENDED_SIGNAL, report(12, now + 60, "succeeded"))
        await client.get_workflow_handle(name).result()
    assert play.told[-1] == "recovery 11"
