"""Keys of encryption in the desired schedule, its fingerprint, the plan, and the twin."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from schedules.model import Action, Activity, DesiredSchedule
from schedules.plan.encryption import sealed
from schedules.plan.plan import USUAL, Rules, make_plan, plan_one
from schedules.sync.reconcile import apply_plan, plan_sync
from schedules.testing import SchedulesInMemory
from tests.factories import NOW, desired, observed

OWNER = "billing/production"
PLAIN = desired()
ONE = replace(PLAIN, encryption="one")
REASON = 'a payload is encrypted with the key "one", which is not among the keys given (none)'


@pytest.mark.parametrize(
    ("action", "key"),
    [
        (Action("W", "q", ()), ""),
        (Action("W", "q", ("",)), "one"),
        (Action("W", "q", (), memo={"a": 1}), "one"),
        (Action("W", "q", (), summary="s"), "one"),
        (Action("W", "q", (), details="d"), "one"),
        (Action("W", "q", (), search_attributes={"k": "v"}), ""),
    ],
)
def test_a_schedule_has_a_key_where_it_has_something_to_encrypt(action: Action, key: str) -> None:
    assert sealed({"w": desired("w", action=action)}, "one")["w"].encryption == key


def test_without_a_key_schedules_are_as_they_were() -> None:
    assert sealed({"w": PLAIN}, "") == {"w": PLAIN}


@pytest.mark.parametrize(
    ("wanted", "there", "before", "after"),
    [(ONE, PLAIN, "none", "key one"), (PLAIN, ONE, "key one", "none"), (replace(ONE, encryption="two"), ONE, "key one", "key two")],
)  # fmt: skip
def test_another_key_is_a_difference_of_its_own(
    wanted: DesiredSchedule, there: DesiredSchedule, before: str, after: str
) -> None:
    change = plan_one(OWNER, wanted, observed(there), USUAL)
    assert change is not None
    assert [(diff.field, diff.before, diff.after) for diff in change.diff] == [("encryption", before, after)]
    assert not change.conflict


def test_what_cannot_be_read_is_not_overwritten_by_its_owner() -> None:
    """Or a sync that lacks the keys would put everything back into plain text, or under a key that no worker has."""
    unread = observed(ONE, unreadable=REASON)
    change = plan_one(OWNER, PLAIN, unread, Rules(adopt=True))
    assert change is not None
    assert change.conflict == f"{REASON}; or, if the key is lost, delete the schedule and sync again"
    gone = plan_one(OWNER, None, unread, USUAL)
    assert gone is not None, "what the specs no longer have is deleted all the same"
    assert (gone.verb, gone.conflict) == ("delete", "")


def test_who_adopts_overwrites_what_others_encrypted() -> None:
    foreign = observed(ONE, unreadable=REASON, search_attributes={})
    refused, adopted = (plan_one(OWNER, PLAIN, foreign, rules) for rules in (USUAL, Rules(adopt=True)))
    assert refused is not None
    assert adopted is not None
    assert "belongs to no project" in refused.conflict
    assert not adopted.conflict


async def test_a_new_key_is_written_once_and_seen_in_the_list_from_then_on() -> None:
    twin, wanted = SchedulesInMemory(), {PLAIN.id: PLAIN}
    for key in ("", "one", "two", ""):
        desired_now = sealed(wanted, key)
        plan = await plan_sync(twin, OWNER, desired_now, NOW)
        assert len(plan.changes) == 1
        assert [done.result for done in await apply_plan(plan, twin, asyncio.Event())] == ["applied"]
        twin.calls.clear()
        assert (await plan_sync(twin, OWNER, desired_now, NOW)).changes == ()
        assert "describe" not in twin.calls


def test_of_what_cannot_be_read_nothing_is_claimed() -> None:
    """Neither a value of an argument nor a policy that would change: the same may well stand there."""
    unread = observed(ONE, action=Action("JobWorkflow", "tickwright", ({"payload encoding": "binary/encrypted"},)))
    unread = replace(unread, unreadable=REASON, activity=Activity())
    wanted = replace(PLAIN, action=Action("JobWorkflow", "other", ({"catchup": {"policy": "run_latest"}},)))
    (change,) = make_plan(OWNER, {PLAIN.id: wanted}, {PLAIN.id: unread}, NOW).changes
    assert [(diff.field, diff.before, diff.after) for diff in change.diff] == [
        ("action.task_queue", "tickwright", "other"),
        ("payloads", "cannot be decrypted", "written again"),
        ("encryption", "key one", "none"),
    ]
    assert not any("policy" in note for note in change.consequences.notes)


def test_another_key_under_the_same_id_is_a_difference() -> None:
    change = plan_one(OWNER, ONE, observed(ONE, unreadable=REASON), USUAL)
    assert change is not None
    assert [diff.field for diff in change.diff] == ["payloads"]
