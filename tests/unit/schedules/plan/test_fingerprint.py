"""The fingerprint of a schedule, and what List shows of it."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from schedules.model import Action, Calendar, DesiredSchedule, Interval, ListedSchedule, Policies, Range, Retry, Times
from schedules.plan.fingerprint import fingerprint, marks
from schedules.plan.listed import cut, listed_equal
from tests.factories import EIGHT_ON_WEEKDAYS, desired

ONE = desired(times=Times("America/New_York", (EIGHT_ON_WEEKDAYS,), (Interval(300),)))
OTHERS: dict[str, DesiredSchedule] = {
    "id": replace(ONE, id="other"),
    "owner": replace(ONE, owner="billing/staging"),
    "paused": replace(ONE, paused=False),
    "zone": replace(ONE, times=replace(ONE.times, timezone="UTC")),
    "calendar": replace(ONE, times=replace(ONE.times, calendars=(replace(EIGHT_ON_WEEKDAYS, comment="x"),))),
    "interval": replace(ONE, times=replace(ONE.times, intervals=(Interval(300, 1),))),
    "exclusion": replace(ONE, times=replace(ONE.times, exclusions=(Calendar(),))),
    "start": replace(ONE, times=replace(ONE.times, start_at=datetime(2027, 1, 1, tzinfo=UTC))),
    "jitter": replace(ONE, times=replace(ONE.times, jitter=1)),
    "overlap": replace(ONE, policies=Policies("allow_all", 3600)),
    "argument": replace(ONE, action=Action("JobWorkflow", "tickwright", ({"job": "invoice-dunning", "n": 1},))),
    "queue": replace(ONE, action=replace(ONE.action, task_queue="q")),
    "encryption": replace(ONE, encryption="k1"),
    "retry": replace(ONE, action=replace(ONE.action, retry=Retry())),
}


@pytest.mark.parametrize("part", OTHERS)
def test_another_schedule_has_another_fingerprint(part: str) -> None:
    assert fingerprint(OTHERS[part]) != fingerprint(ONE)


def test_an_equal_schedule_has_the_same_in_every_process() -> None:
    code = "from tests.unit.schedules.plan.test_fingerprint import ONE; from schedules.plan.fingerprint import fingerprint; print(fingerprint(ONE))"
    shown = {
        subprocess.run(
            [sys.executable, "-c", code], env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": "."},
            capture_output=True, text=True, check=True,
        ).stdout.strip()
        for seed in ("1", "2")
    }  # fmt: skip
    assert shown == {fingerprint(ONE)}
    assert len(fingerprint(ONE)) == 32


def test_the_order_of_keys_and_the_horizon_do_not_matter() -> None:
    one = replace(ONE, action=replace(ONE.action, memo={"a": 1, "b": 2}))
    two = replace(ONE, action=replace(ONE.action, memo={"b": 2, "a": 1}), exact_until=datetime(2030, 1, 1, tzinfo=UTC))
    assert fingerprint(one) == fingerprint(two)


def listed(schedule: DesiredSchedule, **fields: Any) -> ListedSchedule:
    whole = ListedSchedule(schedule.id, cut(schedule.times), schedule.action.workflow_type, False, marks(schedule))
    return replace(whole, **fields)


def test_what_a_sync_wrote_last_and_nobody_touched_is_in_sync() -> None:
    hours = tuple(Calendar(hour=(Range(hour, hour),)) for hour in range(12))
    for schedule in (ONE, replace(ONE, times=Times("UTC", hours)), replace(ONE, paused=False)):
        assert listed_equal(schedule, listed(schedule))
    assert listed_equal(ONE, listed(ONE, paused=True)), "an operator's pause"


@pytest.mark.parametrize(
    "fields",
    [
        {"times": replace(ONE.times, jitter=5)},
        {"workflow_type": "Other"},
        {"search_attributes": {**marks(ONE), "TickwrightHash": "0" * 32}},
        {"search_attributes": {"TickwrightOwner": ONE.owner}},
        {"search_attributes": {**marks(ONE), "TickwrightOwner": "payroll/p"}},
    ],
)
def test_anything_else_is_looked_at(fields: dict[str, Any]) -> None:
    assert not listed_equal(ONE, listed(ONE, **fields))


def test_a_declared_pause_is_seen_in_list() -> None:
    paused = replace(ONE, paused=True)
    assert not listed_equal(paused, listed(paused, paused=False))
    assert listed_equal(paused, listed(paused, paused=True))


def test_list_shows_ten_of_each() -> None:
    hours = tuple(Calendar(hour=(Range(hour, hour),)) for hour in range(12))
    times = Times("UTC", hours, tuple(Interval(60 + each) for each in range(11)), hours[:3])
    assert cut(times) == Times("UTC", hours[:10], times.intervals[:10], hours[:3])
    assert cut(Times("UTC", hours[:10])) == Times("UTC", hours[:10])
