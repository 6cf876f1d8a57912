"""Calendars and business days as the real server understands what they compile to."""

from __future__ import annotations

from datetime import UTC, datetime, time, timedelta
from typing import TYPE_CHECKING, Any, Literal
from uuid import uuid4

import pytest

from schedules.compile.job import compile_job
from schedules.server.gateway import TemporalGateway
from tests.factories import job
from tests.oracle.business_days import business_day_runs, cron_runs
from tests.property.test_calendars import NOW, RULES, SET, YEARS

if TYPE_CHECKING:
    from temporalio.client import Client

START, END = datetime(2027, 1, 2, tzinfo=UTC), datetime(2030, 12, 30, tzinfo=UTC)
STEP = timedelta(days=100)
Move = Literal["skip", "next_business_day", "previous_business_day"]


async def served(client: Client, **fields: Any) -> set[datetime]:
    """What the server lists for a job, over all of the horizon."""
    gateway = TemporalGateway(client)
    name = f"t{uuid4().hex[:10]}"
    await gateway.create(compile_job(job(name, paused=True, **fields), "calendars", "test", NOW, SET))
    found: set[datetime] = set()
    start = START
    while start < END:
        found.update(await gateway.matching_times(name, start - timedelta(seconds=1), min(start + STEP, END)))
        start += STEP
    await gateway.delete(name)
    return found


@pytest.mark.parametrize(
    ("expression", "rule", "move", "zone", "gap", "repeat"),
    [
        ("0 9 15 * *", "berlin", "next_business_day", "America/New_York", "run_after", "first"),
        ("0 9 15 * *", "berlin", "previous_business_day", "Pacific/Auckland", "run_after", "first"),
        ("30 2 * * *", "freeze", "skip", "Europe/Berlin", "shift", "both"),
        ("30 1 26 * *", "freeze", "next_business_day", "Europe/London", "run_after", "second"),
        ("0 0 * * 0", "unfrozen", "next_business_day", "America/Havana", "shift", "first"),
        ("0 0 1 * *", "sundays", "previous_business_day", "Europe/London", "skip", "first"),
        ("15,45 1-3 28-31 * *", "working", "next_business_day", "Australia/Lord_Howe", "shift", "both"),
        ("30 2 * 3 6", "working", "next_business_day", "America/New_York", "run_after", "first"),
        ("0 6 * * *", "quarters", "skip", "America/Santiago", "run_after", "first"),
        ("30 23 * * *", "freeze", "skip", "America/Nuuk", "run_after", "first"),  # a gap ends on an excluded Sunday
        ("30 23 * * 6", "sundays", "skip", "America/Nuuk", "shift", "first"),
        ("0 */6 * * *", "either", "skip", "Europe/Berlin", "run_after", "first"),
    ],
)
async def test_the_server_runs_a_job_on_its_days_and_no_others(
    client: Client, expression: str, rule: str, move: Move, zone: str, gap: str, repeat: str
) -> None:
    fields, office = RULES[rule]
    dst = {"gap": gap, "repeat": repeat}

    answer = await served(client, schedule=expression, timezone=zone, dst=dst, on_holiday=move, **fields)

    expected = cron_runs(expression, zone, gap, repeat, office, move, YEARS)
    assert answer == {each for each in expected if START <= each < END}


@pytest.mark.parametrize(
    ("nth", "rule"), [(1, "nothing"), (-2, "nothing"), (1, "berlin"), (-1, "unfrozen"), (20, "working")]
)
async def test_the_server_finds_the_nth_business_day(client: Client, nth: int, rule: str) -> None:
    fields, office = RULES[rule]
    entry = {"business_day": nth, "at": "02:30"}

    answer = await served(client, schedule=entry, timezone="Europe/Berlin", dst={"gap": "shift"}, **fields)

    expected = business_day_runs(nth, time(2, 30), "Europe/Berlin", "shift", "first", office, YEARS)
    assert answer == {each for each in expected if START <= each < END}
