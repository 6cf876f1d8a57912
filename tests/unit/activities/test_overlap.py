"""The overlap policies are the server's, and each does what the server documents."""

from __future__ import annotations

import pytest
from temporalio.client import ScheduleOverlapPolicy

from activities.overlap import OVERLAPS, overlap_policy


def test_they_are_those_of_the_server() -> None:
    assert {name.upper() for name in OVERLAPS} == {policy.name for policy in ScheduleOverlapPolicy}
    assert [overlap_policy(name).name for name in OVERLAPS] == list(OVERLAPS)


@pytest.mark.parametrize("name", [None, "unspecified", ""])
def test_the_servers_default_stands_for_what_is_not_known(name: str | None) -> None:
    assert overlap_policy(name).name == "skip"


@pytest.mark.parametrize("name", OVERLAPS)
def test_a_policy_does_one_thing_with_the_run_before(name: str) -> None:
    policy = overlap_policy(name)
    assert sum((policy.holds_back, policy.ends_other, policy.side_by_side)) == 1
    assert policy.holds_back or not policy.buffers
