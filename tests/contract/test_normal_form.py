"""Every field that a spec can decide comes back as it was sent, from Describe and from List: the server's normal form."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, get_args

import pytest
from temporalio.converter import DataConverter

from activities.overlap import Overlap
from schedules.model import EVERY_SECOND, Action, Calendar, Interval, Policies, Range, Retry, Times
from schedules.plan.differences import differences
from schedules.plan.listed import listed_equal
from tests.contract.world import World
from tests.factories import EIGHT_ON_WEEKDAYS, desired
from tests.servers import DevServer

ACTION = Action("JobWorkflow", "tickwright", ({"job": "x"},))


def at(**fields: Any) -> dict[str, Any]:
    return {"times": replace(Times("America/New_York", (EIGHT_ON_WEEKDAYS,)), **fields)}


def doing(**fields: Any) -> dict[str, Any]:
    return {"action": replace(ACTION, **fields)}


@pytest.fixture(params=["twin", "server"])
def place(request: pytest.FixtureRequest) -> tuple[DevServer, DataConverter] | None:
    """Without keys: what encryption does to a schedule is told by tests of its own."""
    return None if request.param == "twin" else (request.getfixturevalue("server"), DataConverter.default)


FIELDS: dict[str, dict[str, Any]] = {
    "a calendar with every field": at(
        calendars=(
            Calendar(
                second=(Range(5, 50, 15),),
                minute=(Range(0, 0), Range(10, 20, 2)),
                hour=(Range(8, 8), Range(22, 23)),
                day_of_month=(Range(1, 7), Range(31, 31)),
                month=(Range(1, 12, 3),),
                day_of_week=(Range(0, 0), Range(5, 6)),
                year=(Range(2027, 2031, 2),),
                comment="nicht vor ⅔ des Monats # 3",
            ),
        )
    ),
    "twenty calendars": at(calendars=tuple(Calendar(minute=(Range(n, n),)) for n in range(20))),
    "a comment of 200 bytes": at(calendars=(Calendar(comment="é" * 100),)),
    "no calendar": at(calendars=(), intervals=(Interval(60),)),
    "intervals with and without offset": at(intervals=(Interval(300), Interval(3600, 90))),
    "one instant": at(intervals=(Interval(int(datetime(2027, 11, 7, 5, 30, tzinfo=UTC).timestamp())),)),
    "800 instants": at(intervals=tuple(Interval(1_800_000_000 + 3600 * n) for n in range(800))),
    "exclusions": at(exclusions=(Calendar(EVERY_SECOND, EVERY_SECOND, day_of_month=(Range(24, 26),)),)),
    "a start": at(start_at=datetime(2027, 3, 1, 9, tzinfo=UTC)),
    "an end": at(end_at=datetime(2030, 3, 1, 9, 30, 5, tzinfo=UTC)),
    "jitter": at(jitter=30),
    "UTC": at(timezone="UTC"),
    "another zone": at(timezone="Australia/Lord_Howe"),
    **{f"overlap {overlap}": {"policies": Policies(overlap, 3600)} for overlap in get_args(Overlap)},
    "the shortest catch-up window": {"policies": Policies("skip", 10)},
    "a catch-up window of a year": {"policies": Policies("skip", 365 * 86400)},
    "a pause on failure": {"policies": Policies("skip", 60, pause_on_failure=True)},
    "a declared pause": {"paused": True},
    "a declared going on": {"paused": False},
    "arguments of every JSON type": doing(
        args=({"a": [1, -2.5, True, None, "ü\n\u0000", {}]}, [], "x", 0, 1e300, 2**60)
    ),
    "no arguments": doing(args=()),
    "memo": doing(memo={"team": "payments", "limits": {"n": 1}}),
    "search attributes of the runs": doing(search_attributes={"TickwrightOwner": "billing/production"}),
    "a summary": doing(summary="Remind **customers**"),
    "details": doing(details="line\nline"),
    "the timeouts": doing(execution_timeout=7200, run_timeout=3600, task_timeout=20),
    "the usual retry policy": doing(retry=Retry()),
    "a retry policy with every field": doing(retry=Retry(5, 1500, 1.5, 60_000, ("HandlerError", "ValueError"))),
    "another workflow id": doing(workflow_id="nightly/run"),
    "another task queue": doing(task_queue="billing ✓"),
}


@pytest.mark.parametrize("field", FIELDS)
async def test_what_is_sent_is_what_is_shown(world: World, name: str, field: str) -> None:
    schedule = replace(desired(name, owner=f"{name}/p"), **FIELDS[field])
    await world.schedules.create(schedule)
    observed = await world.schedules.describe(name)
    assert observed is not None
    assert differences(schedule, observed) == ()
    (entry,) = await world.listed(f"{name}/p", 1)
    assert listed_equal(schedule, entry)


@pytest.mark.parametrize("field", FIELDS)
async def test_what_is_updated_is_what_is_shown(world: World, name: str, field: str) -> None:
    """An update takes another path through the server than a create."""
    plain = desired(name, owner=f"{name}/p", policies=Policies("skip", 7777), action=replace(ACTION, task_queue="q"))
    await world.schedules.create(plain)
    before = await world.schedules.describe(name)
    assert before is not None
    schedule = replace(desired(name, owner=f"{name}/p"), **FIELDS[field])
    await world.schedules.update(schedule, before)
    async with asyncio.timeout(60):
        while (now := await world.schedules.describe(name)) is None or differences(schedule, now):
            pass
        while not listed_equal(schedule, (await world.listed(f"{name}/p", 1))[0]):
            pass
