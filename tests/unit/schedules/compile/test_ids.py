"""Ids that are composed of names: each has one meaning, and databases of self-hosted servers hold it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from schedules.compile.watchdog import watchdog_id
from schedules.spec.fields import LONGEST_NAME, NAME, RESERVED

DATABASE = 255
SCHEDULER = "temporal-sys-scheduler:"
TIME = "-2027-03-01T09:00:00Z"
part = st.from_regex(NAME.rstrip("$") + r"\Z").map(lambda text: text[:100])
queue = st.text(alphabet=st.sampled_from("ab/-12~"), max_size=200)
watchdog = st.tuples(st.builds("{}/{}".format, part, part), st.integers(1, 50), queue)


@given(one=watchdog, other=watchdog)
def test_two_watchdogs_never_share_an_id(one: tuple[str, int, str], other: tuple[str, int, str]) -> None:
    assert (watchdog_id(*one) == watchdog_id(*other)) == (one == other)


@given(one=watchdog)
def test_a_watchdogs_id_is_held_as_a_schedule_and_with_the_time_of_a_run(one: tuple[str, int, str]) -> None:
    found = watchdog_id(*one)

    assert found.startswith(RESERVED)
    assert len(SCHEDULER + found) <= DATABASE
    assert len(found + TIME) <= DATABASE


def test_a_hyphen_may_stand_in_a_project_and_in_an_environment() -> None:
    assert watchdog_id("billing/eu-production") != watchdog_id("billing-eu/production")
    assert watchdog_id("billing/eu", 2) != watchdog_id("billing/eu-2")
    assert watchdog_id("billing/eu", 1, "2") != watchdog_id("billing/eu", 2)


def test_a_jobs_longest_name_is_held_in_every_id_that_is_made_of_it() -> None:
    longest = LONGEST_NAME * "j"
    for composed in (SCHEDULER + longest, f"tickwright-missed-{longest}{TIME}", f"tickwright-backfill-{longest}"):
        assert len(composed) <= DATABASE
