"""The evaluator reads any calendars, intervals, exclusions and bounds as the server does, not only compiled ones."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from random import Random
from typing import TYPE_CHECKING

import pytest

from schedules.cron import Occurrences
from schedules.model import EVERY_DAY, EVERY_HOUR, EVERY_MONTH, EVERY_WEEKDAY, Calendar, Interval, Range, Times
from tests.integration.schedule_server import connected, create, listed, server_in_memory

if TYPE_CHECKING:
    from collections.abc import Iterator

    from temporalio.client import Client

    from schedules.model import Ranges

SCHEDULES = 150
WINDOWS = 4
START = datetime(2027, 1, 1, tzinfo=UTC)
LATEST = START + timedelta(days=902)


@pytest.fixture
def address() -> Iterator[str]:
    with server_in_memory() as found:
        yield found


def ranges(random: Random, low: int, high: int) -> Ranges:
    def one() -> Range:
        first, last = sorted((random.randint(low, high), random.randint(low, high)))
        return random.choice((Range(first, first), Range(first, last), Range(first, last, random.randint(1, 9))))

    return tuple(sorted(one() for _ in range(random.randint(1, 2))))


def calendar(random: Random, *, coarse: bool) -> Calendar:
    def rarely(every: Ranges, low: int, high: int) -> Ranges:
        return ranges(random, low, high) if random.random() < 0.4 else every

    return Calendar(
        second=(Range(0, 59),) if coarse else (Range(0, 0),),
        minute=(Range(0, 59),) if coarse else ranges(random, 0, 59)[:1],
        hour=rarely(EVERY_HOUR, 0, 23),
        day_of_month=rarely(EVERY_DAY, 1, 31),
        month=rarely(EVERY_MONTH, 1, 12),
        day_of_week=rarely(EVERY_WEEKDAY, 0, 6),
        year=random.choice(((), (), (Range(2027, 2028),), (Range(2026, 2030, 2),))),
    )


def times(random: Random) -> Times:
    """In zones whose clocks do not change: of nights on which they do, the compiled form keeps clear."""
    every = random.choice((600, 3600, 5400, 86400, 7 * 86400))
    drawn = Times(
        random.choice(("UTC", "Asia/Kolkata", "America/Asuncion")),
        tuple(calendar(random, coarse=False) for _ in range(random.randint(1, 3))),
        (Interval(every, random.randrange(every)),) if random.random() < 0.4 else (),
        tuple(calendar(random, coarse=True) for _ in range(random.randint(0, 2))),
        start_at=START + timedelta(days=random.randint(0, 300)) if random.random() < 0.3 else None,
        end_at=START + timedelta(days=random.randint(300, 900)) if random.random() < 0.3 else None,
    )
    free = Occurrences(replace(drawn, start_at=None, end_at=None)).next_after(LATEST)
    seldom = free is None or free > LATEST + timedelta(days=40)
    return replace(drawn, exclusions=()) if seldom else drawn  # the server steps through all that is excluded


async def differences(client: Client, number: int) -> list[str]:
    random = Random(number)
    asked = times(random)
    await create(client, f"times-{number}", asked)
    found = []
    for _ in range(WINDOWS):
        start = START + timedelta(days=random.randint(0, 900), seconds=random.randrange(86400))
        end = start + timedelta(hours=10)
        evaluated = list(Occurrences(asked).between(start + timedelta(seconds=1), end))
        served = await listed(client, f"times-{number}", start, end)
        if served != evaluated:
            found.append(f"{asked} {start}: {served[:5]} but {evaluated[:5]}")
    return found


async def test_server_and_evaluator_read_the_same(address: str) -> None:
    client = await connected(address)
    gate = asyncio.Semaphore(8)

    async def checked(number: int) -> list[str]:
        async with gate:
            return await differences(client, number)

    answers = await asyncio.gather(*(checked(number) for number in range(SCHEDULES)))
    assert [each for answer in answers for each in answer] == []
