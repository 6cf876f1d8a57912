"""What the compiled form relies on, and what it keeps away from, in the server's reading of calendars and intervals.

If a case of the second kind fails, the server has learned to do better, and the compiled form means the same as before.
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

import pytest

from schedules.model import EVERY_DAY, EVERY_WEEKDAY, Calendar, Interval, Range, Times
from tests.integration.schedule_server import connected, create, listed, server_in_memory

if TYPE_CHECKING:
    from collections.abc import Iterator

    from schedules.model import Ranges


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with server_in_memory() as found:
        yield found


def at(hour: int, minute: int = 0, day_of_month: Ranges = EVERY_DAY, day_of_week: Ranges = EVERY_WEEKDAY) -> Calendar:
    return Calendar(
        minute=(Range(minute, minute),), hour=(Range(hour, hour),), day_of_month=day_of_month, day_of_week=day_of_week
    )


def unix(text: str) -> int:
    return int(datetime.fromisoformat(text).timestamp())


async def answer(address: str, times: Times, start: str, end: str) -> list[str]:
    client = await connected(address)
    name = f"times-{abs(hash((times, start)))}"
    await create(client, name, times)
    found = await listed(client, name, datetime.fromisoformat(start), datetime.fromisoformat(end))
    return [f"{each:%dT%H:%M}" for each in found]


@pytest.mark.parametrize(
    ("times", "start", "end", "expected"),
    [
        pytest.param(
            Times("UTC", intervals=(Interval(unix("2027-10-31T00:30Z")),)),
            "2027-01-01T00:00Z",
            "2085-01-01T00:00Z",
            ["31T00:30"],
            id="an interval of an instant's Unix time is that instant, for half a century",
        ),
        pytest.param(
            Times(
                "UTC",
                (at(12), at(12, day_of_month=(Range(1, 1),))),
                (Interval(unix("2027-03-01T12:00Z")), Interval(86400, 43200)),
            ),
            "2027-03-01T00:00Z",
            "2027-03-02T00:00Z",
            ["01T12:00"],
            id="equal instants are one",
        ),
        pytest.param(
            Times("Europe/Berlin", intervals=(Interval(3600, 1800),), exclusions=(at(2, 30),)),
            "2027-10-31T00:00Z",
            "2027-10-31T03:00Z",
            ["31T02:30"],
            id="an exclusion takes both passes of a repeated local time",
        ),
        pytest.param(
            Times("America/New_York", (at(2, 30),)),
            "2027-03-14T00:00Z",
            "2027-03-15T00:00Z",
            [],
            id="a local time in a gap of full hours does not run",
        ),
    ],
)
async def test_the_server_does_what_the_compiled_form_relies_on(
    address: str, times: Times, start: str, end: str, expected: list[str]
) -> None:
    assert await answer(address, times, start, end) == expected


@pytest.mark.parametrize(
    ("times", "start", "end", "literally", "served"),
    [
        pytest.param(
            Times("Europe/Berlin", (at(1, 30),)),
            "2027-10-30T12:00Z",
            "2027-10-31T12:00Z",
            ["30T23:30"],
            ["30T23:30", "31T00:30"],
            id="the hour before a repeated one runs twice",
        ),
        pytest.param(
            Times("Europe/Berlin", (at(2, 30),)),
            "2027-10-30T12:00Z",
            "2027-10-31T12:00Z",
            ["31T00:30", "31T01:30"],
            ["31T01:30"],
            id="a repeated hour loses its first pass",
        ),
        pytest.param(
            Times("Australia/Lord_Howe", (at(2, 15),)),
            "2027-10-02T12:00Z",
            "2027-10-03T12:00Z",
            [],
            ["02T15:45"],
            id="a local time in a gap of half an hour runs",
        ),
        pytest.param(
            Times("America/Havana", (at(12, day_of_week=(Range(0, 0),)),)),
            "2027-03-14T00:00Z",
            "2027-03-15T00:00Z",
            ["14T16:00"],
            [],
            id="a Sunday without a midnight is taken for a Saturday",
        ),
    ],
)
async def test_the_server_misreads_what_the_compiled_form_keeps_away_from(
    address: str, times: Times, start: str, end: str, literally: list[str], served: list[str]
) -> None:
    assert literally != served
    assert await answer(address, times, start, end) == served
