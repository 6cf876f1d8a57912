"""Calls that the server could not answer just now, and the pace at which they are made."""

from __future__ import annotations

import asyncio
import itertools
from types import SimpleNamespace
from typing import Any

import pytest
from temporalio.api.workflowservice.v1 import DescribeScheduleRequest
from temporalio.service import RPCError, RPCStatusCode

from schedules.errors import ServerAwayError, ServerError
from schedules.server import calls
from schedules.server.calls import Calls
from schedules.server.pace import Pace

REQUEST = DescribeScheduleRequest(schedule_id="x")


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("FIRST_WAIT", "LONGEST_WAIT", "JITTER"):
        monkeypatch.setattr(calls, name, 0.001)


class Server:
    """Answers with the statuses given, one a call, and then always with the last."""

    def __init__(self, *statuses: RPCStatusCode | None) -> None:
        self.statuses = list(statuses)
        self.called: list[dict[str, Any]] = []

    async def __call__(self, request: DescribeScheduleRequest, **options: Any) -> str:
        self.called.append(options)
        status = self.statuses.pop(0) if len(self.statuses) > 1 else self.statuses[0]
        if status is not None:
            raise RPCError("no", status, b"")
        return request.schedule_id


@pytest.mark.parametrize("status", ["UNAVAILABLE", "RESOURCE_EXHAUSTED", "DEADLINE_EXCEEDED", "CANCELLED", "UNKNOWN"])
async def test_what_the_server_cannot_do_now_is_asked_again(status: str) -> None:
    server = Server(RPCStatusCode[status], RPCStatusCode[status], None)
    assert await Calls(Pace(50_000))("describe", server, REQUEST) == "x"
    assert len(server.called) == 3
    assert not any(options["retry"] for options in server.called), "one layer repeats, not two"


@pytest.mark.parametrize(
    "status", ["NOT_FOUND", "INVALID_ARGUMENT", "PERMISSION_DENIED", "ALREADY_EXISTS", "UNAUTHENTICATED"]
)
async def test_a_refusal_is_final(status: str) -> None:
    server = Server(RPCStatusCode[status])
    with pytest.raises(ServerError) as refused:
        await Calls(Pace())("describe", server, REQUEST)
    assert (refused.value.code, len(server.called)) == (status, 1)
    assert "describe" in str(refused.value)


async def test_a_server_that_stays_away_is_given_up_once_for_all_calls() -> None:
    """Ten thousand changes do not wait half a minute each."""
    server = Server(RPCStatusCode.UNAVAILABLE)
    some = Calls(Pace(), patience=0.3)
    for _ in range(2):
        with pytest.raises(ServerAwayError):
            await some("describe", server, REQUEST)
    before = len(server.called)
    for _ in range(20):
        with pytest.raises(ServerError):
            await some("describe", server, REQUEST)
    assert len(server.called) == before + 20
    server.statuses = [None]
    await some("describe", server, REQUEST)
    server.statuses = [RPCStatusCode.UNAVAILABLE, None]
    assert await some("describe", server, REQUEST) == "x"


async def test_one_timeout_after_a_long_silence_of_ours_is_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """A sync compiles for a minute, and the first change after that meets one timeout."""
    now = [1000.0]
    monkeypatch.setattr(calls, "time", SimpleNamespace(monotonic=lambda: now[0]))
    some = Calls(Pace())
    now[0] += 60
    server = Server(RPCStatusCode.DEADLINE_EXCEEDED, None)
    assert await some("update", server, REQUEST) == "x"
    assert len(server.called) == 2


async def test_a_server_that_answers_others_is_not_away() -> None:
    """One schedule that the server cannot deal with does not end the sync of all."""
    some = Calls(Pace(), patience=0.3)
    broken, well = Server(RPCStatusCode.INTERNAL), Server(None)

    async def now_and_then() -> None:
        while True:
            await some("describe", well, REQUEST)
            await asyncio.sleep(0.01)

    others = asyncio.create_task(now_and_then())
    with pytest.raises(ServerError) as refused:
        await some("describe", broken, REQUEST)
    others.cancel()
    assert not isinstance(refused.value, ServerAwayError)
    with pytest.raises(ServerAwayError):
        await some("describe", broken, REQUEST)


class Clock:
    """Time that goes on only while somebody sleeps."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 1000.0
        monkeypatch.setattr("schedules.server.pace.time.monotonic", lambda: self.now)
        monkeypatch.setattr("schedules.server.pace.asyncio.sleep", self.sleep)

    async def sleep(self, seconds: float) -> None:
        self.now += max(seconds, 0.0)


async def test_a_rate_spaces_requests_evenly(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, some = Clock(monkeypatch), Pace(10)
    begun = []
    for _ in range(21):
        await some.turn()
        begun.append(clock.now)
    assert begun[-1] - begun[0] == pytest.approx(2.0)
    assert {round(later - earlier, 6) for earlier, later in itertools.pairwise(begun)} == {0.1}


async def test_without_a_rate_nothing_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, some = Clock(monkeypatch), Pace()
    for _ in range(1000):
        await some.turn()
    assert clock.now == 1000.0


async def test_a_refusal_for_too_much_slows_down_and_answers_speed_up_again(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, some = Clock(monkeypatch), Pace()
    for _ in range(40):
        await some.turn()
        clock.now += 0.05
    some.slow_down()
    slow = some.rate
    assert slow is not None
    assert slow == pytest.approx(0.7 * 20, rel=0.1)
    some.slow_down()
    assert some.rate == slow, "many refusals within a second are one"
    clock.now += 1
    some.slow_down()
    assert some.rate == pytest.approx(0.7 * slow)
    for _ in range(20):
        clock.now += 1
        some.slow_down()
    assert some.rate == 1.0
    for _ in range(500):
        some.speed_up()
    assert some.rate == pytest.approx(51.0)


async def test_a_rate_that_was_given_is_never_exceeded() -> None:
    some = Pace(10)
    some.slow_down()
    for _ in range(1000):
        some.speed_up()
    assert some.rate == 10


async def test_against_a_server_that_takes_ten_a_second_all_calls_get_through_at_about_that_rate(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Temporal Cloud's limit; the time is made up."""
    clock = Clock(monkeypatch)
    taken: list[float] = []
    refused = 0

    async def limited(request: DescribeScheduleRequest, **_: Any) -> str:
        nonlocal refused
        if sum(at > clock.now - 1 for at in taken) >= 10:
            refused += 1
            raise RPCError("slow down", RPCStatusCode.RESOURCE_EXHAUSTED, b"")
        taken.append(clock.now)
        return request.schedule_id

    some = Calls(Pace(), patience=1e9)
    await asyncio.gather(*(some("create", limited, REQUEST) for _ in range(300)))
    seconds = taken[-1] - taken[0]
    assert 300 / seconds > 5
    assert refused < 600
