"""Waiting and stopping, without a server."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Iterator

import pytest
import structlog
from structlog.testing import capture_logs

from schedules.errors import SettingsError, UnreachableError
from worker.health.reach import connect_patiently
from worker.process.lifecycle import Stop


@pytest.fixture(autouse=True)
def as_without_configuration() -> None:
    structlog.reset_defaults()


@pytest.fixture
def hangups_end_it() -> Iterator[None]:
    """As in a terminal, also where the tests were started by `nohup`."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)


async def test_the_waits_for_a_server_grow_to_half_a_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    stop, tries = Stop(lambda _: None), 0

    async def refuse() -> None:
        nonlocal tries
        tries += 1
        if tries == 8:
            stop.ask()
        raise UnreachableError("127.0.0.1:7233", "refused")

    async def no_time(_: float) -> None:
        """A wait that is over at once."""

    monkeypatch.setattr("worker.health.reach.asyncio.sleep", no_time)
    with capture_logs() as lines:
        assert await connect_patiently(stop, refuse) is None  # type: ignore[arg-type]  # it never has a client
    assert [line["retry_in"] for line in lines] == [1, 2, 4, 8, 16, 30, 30, 30]
    assert {line["action"] for line in lines} == {"server_away"}


async def test_what_waiting_does_not_mend_is_raised() -> None:
    async def refuse() -> None:
        raise SettingsError("no such profile")

    with pytest.raises(SettingsError):
        await connect_patiently(Stop(lambda _: None), refuse)  # type: ignore[arg-type]  # it never has a client


async def test_asking_to_stop_cancels_what_is_waited_for() -> None:
    stop, cancelled = Stop(lambda _: None), asyncio.Event()

    async def for_ever() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()

    waiting = asyncio.create_task(stop.unless_asked(for_ever()))
    await asyncio.sleep(0)
    stop.ask()
    await waiting
    await cancelled.wait()


async def test_the_first_signal_asks_and_each_further_one_stops_at_once() -> None:
    given: list[int] = []
    stop = Stop(given.append)
    with stop.on_signals(asyncio.get_running_loop()):
        os.kill(os.getpid(), signal.SIGTERM)
        await stop.asked.wait()
        assert given == []
        for number in (signal.SIGINT, signal.SIGTERM):
            os.kill(os.getpid(), number)
            async with asyncio.timeout(5):
                while number not in given:  # noqa: ASYNC110 - a signal has no event
                    await asyncio.sleep(0)
    assert given == [signal.SIGINT, signal.SIGTERM]


@pytest.mark.usefixtures("hangups_end_it")
async def test_a_hangup_asks_and_a_further_one_changes_nothing() -> None:
    """A terminal that closes sends two: by the shell, and by the kernel."""
    given: list[int] = []
    stop = Stop(given.append)
    with stop.on_signals(asyncio.get_running_loop()):
        os.kill(os.getpid(), signal.SIGHUP)
        await stop.asked.wait()
        os.kill(os.getpid(), signal.SIGHUP)
        os.kill(os.getpid(), signal.SIGTERM)
        async with asyncio.timeout(5):
            while not given:  # noqa: ASYNC110 - a signal has no event
                await asyncio.sleep(0)
    assert given == [signal.SIGTERM]


async def test_under_nohup_a_hangup_stays_ignored() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with Stop(lambda _: None).on_signals(asyncio.get_running_loop()):
            assert signal.getsignal(signal.SIGHUP) == signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)


async def test_a_stop_without_a_signal_is_no_second_one() -> None:
    given: list[int] = []
    stop = Stop(given.append)
    stop.ask()
    stop.ask()
    assert (stop.asked.is_set(), given) == (True, [])
