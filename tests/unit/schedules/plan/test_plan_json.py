"""A plan as a file."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from typing import Any

import pytest

from schedules.model import (
    Action,
    Activity,
    Calendar,
    Interval,
    Namespace,
    Policies,
    Range,
    Retry,
    RuntimeState,
    Times,
    Unsaid,
)
from schedules.plan.file import PlanFileError, from_json, other_namespace, stale, to_json
from schedules.plan.plan import Plan, Rules, make_plan
from tests.factories import NOW, desired, observed, utc

OWNER = "billing/production"
HERE = Namespace("default", "3f1c")
ONE = desired("one")
RICH = desired(
    "rich",
    times=Times(
        "Europe/Berlin",
        (Calendar(year=(Range(2027, 2028),), comment="é"),),
        (Interval(5, 1),),
        (Calendar(),),
        NOW,
        NOW,
        7,
    ),
    action=Action(
        "W", "q", (1, 2.5, {"a": [None, True, "é"]}), {"k": ["v"]}, {"m": {}}, "s", "d", 1, 2, 3, Retry(), "id"
    ),
    policies=Policies("buffer_all", 60, pause_on_failure=True),
    paused=True,
    exact_until=utc("2031-01-01T00:00"),
    encryption="k1",
)


def plan(rules: Rules | None = None, **server: Any) -> Plan:
    there = {
        "one": observed(replace(ONE, policies=Policies("allow_all", 60)), version=b"\x00\xff\x01", **server),
        "gone": observed(
            desired("gone"), state=RuntimeState(True, "ask Ann", 3), other=(Unsaid("spec.timezone_data", "AAAA"),)
        ),
    }
    return make_plan(OWNER, {"one": ONE, "rich": RICH}, there, NOW, rules=rules or Rules())


def test_a_plan_survives_its_file() -> None:
    whole = plan(Rules(adopt=True), activity=Activity(("r",), 1, ("s",), (NOW,), NOW, NOW))
    file = from_json(to_json(whole, HERE))
    read = file.plan
    assert (read, file.namespace) == (whole, HERE)
    assert [change.consequences for change in read.changes] == [change.consequences for change in whole.changes]
    assert read.changes[1].observed is not None
    assert read.changes[1].observed.activity.running == ("r",)


def test_the_file_is_json_that_tells_its_form() -> None:
    assert json.loads(to_json(plan(), HERE))["tickwright_plan"] == 4


WRITTEN = to_json(plan(), HERE)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "not JSON, or not complete"),
        ("[" * 100_000, "not JSON, or not complete"),
        (WRITTEN[: len(WRITTEN) // 2], "not JSON, or not complete"),
        ("{}", "no `tickwright_plan`"),
        ("[]", "no `tickwright_plan`"),
        (WRITTEN.replace('plan": 4', 'plan": 1'), "form 1, this version reads 4"),
        (WRITTEN.replace("billing", "payroll", 1), "its digest does not match its content"),
        (WRITTEN.replace('"digest"', '"Digest"'), "its digest does not match its content"),
    ],
)
def test_a_file_that_is_no_plan_is_refused(text: str, said: str) -> None:
    with pytest.raises(PlanFileError) as refused:
        from_json(text)
    assert said in str(refused.value)
    assert refused.value.exit_code == 2


def test_a_plan_that_was_only_laid_out_anew_is_still_the_plan() -> None:
    document = json.loads(WRITTEN)
    assert from_json(json.dumps(dict(reversed(document.items())))).plan == plan()


def test_content_that_no_plan_has_is_refused_even_under_a_digest_of_its_own() -> None:
    """SHA-256 of the rest, keys sorted, as Python's `json` writes it: here worked out apart from the code under test."""
    document = json.loads(WRITTEN)
    del document["digest"]
    document["plan"]["changes"][0]["verb"] = "explode"
    digest = hashlib.sha256(json.dumps(document, sort_keys=True).encode()).hexdigest()
    with pytest.raises(PlanFileError, match=r"plan\.changes\.0: .*'verb'"):
        from_json(json.dumps({**document, "digest": digest}))


@pytest.mark.parametrize(
    ("now", "said"),
    [
        (HERE, ""),
        (Namespace("default"), ""),
        (Namespace("default", "9a9a"), "the plan is for namespace default of another server"),
        (Namespace("billing", "3f1c"), "the plan is for namespace default, and this is billing"),
    ],
)
def test_a_plan_is_for_one_namespace_of_one_server(now: Namespace, said: str) -> None:
    assert other_namespace(HERE, now) == said


def test_the_same_plan_is_not_stale_later() -> None:
    later = make_plan(
        OWNER,
        {"one": ONE, "rich": RICH},
        {c.job: c.observed for c in plan().changes if c.observed},
        utc("2027-04-01T00:00"),
    )
    assert stale(from_json(WRITTEN).plan, later) == []


def test_all_that_changed_since_is_named() -> None:
    moved = make_plan(
        OWNER,
        {"one": replace(ONE, times=RICH.times), "new": desired("new")},
        {
            "one": observed(replace(ONE, policies=Policies("skip", 60)), version=b"\x02"),
            "gone": observed(desired("gone"), state=RuntimeState()),
        },
        NOW,
    )
    assert stale(plan(), moved) == [
        "gone: somebody has changed the schedule on the server (state, other)",
        "new: create is not in the plan",
        "one: the specs have changed",
        "one: somebody has changed the schedule on the server (policies, search_attributes)",
        "rich: create is no longer needed",
    ]


def test_a_pause_by_hand_makes_a_plan_stale() -> None:
    assert stale(plan(), plan(state=RuntimeState(True, "ask Ann"))) == [
        "one: somebody has changed the schedule on the server (state)"
    ]


def test_a_schedule_that_came_to_be_meanwhile_is_named() -> None:
    there = {change.job: change.observed for change in plan().changes if change.observed} | {
        "rich": observed(desired("rich"))
    }
    assert stale(plan(), make_plan(OWNER, {"one": ONE, "rich": RICH}, there, NOW)) == [
        "rich: the plan says create, and now it would be update"
    ]


def test_the_plan_of_another_owner_is_not_applied() -> None:
    assert stale(replace(plan(), owner="x/y"), plan()) == [
        "the plan is for x/y, and the specs are of billing/production"
    ]
