"""What a test cannot ask for is said with what to write instead, and as a rule before anything runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from schedules.errors import SpecError
from schedules.spec.entries import CronEntry
from schedules.spec.handlers import RunSpec
from schedules.spec.job import JobSpec
from tests.testkit.conftest import SECRETS
from worker.testkit import Fault, KitError, TestKit

if TYPE_CHECKING:
    from pathlib import Path

NIGHTLY: dict[str, Any] = {"job": "nightly", "start": "2027-03-01", "end": "2027-04-01", "http": {}, "secrets": SECRETS}
PAYROLL: dict[str, Any] = {"job": "payroll", "start": "2027-03-01", "end": "2027-04-01", "command": {}}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (NIGHTLY | {"job": "nigthly"}, "billing/default has no job `nigthly`; did you mean `nightly`?"),
        (NIGHTLY | {"job": None}, "which job? known jobs: nightly, payroll, cleanup, slow; say it with job=…"),
        (
            PAYROLL | {"start": "2027-03-16"},
            "payroll has nothing scheduled from 2027-03-16 00:00 EDT to 2027-04-01 00:00 EDT; the next one is 2027-04-15 09:00 EDT",
        ),
        (
            PAYROLL | {"end": "2027-02-01"},
            "payroll has nothing scheduled from 2027-03-01 00:00 EST to 2027-02-01 00:00 EST; the next one is 2027-03-15 09:00 EDT",
        ),
        (
            PAYROLL | {"start": "1st of March"},
            "'1st of March' is neither date nor time; write one such as 2027-03-14, 2027-03-14T02:30 or 2027-03-14T07:00Z",
        ),
        (
            PAYROLL | {"job": "slow", "start": "2027-01-01", "end": "2028-01-01"},
            "slow has more than 10,000 occurrences from 2027-01-01 to 2028-01-01; take a shorter span",
        ),
        (PAYROLL | {"steps": {"runn": 1}}, "steps={'runn': …}: the job has no such step; it has run"),
        (
            PAYROLL | {"command": None},
            "step run is a command; give command=… a stand-in, or allow_commands=True to run it",
        ),
        (NIGHTLY | {"secrets": {}}, "step run uses the secret TOKEN; give secrets={'TOKEN': …}"),
        (
            {"job": "cleanup", "start": "2027-03-01", "secrets": SECRETS},
            "step run runs the handler `delete-old-rows`; name its module in modules=[…], or give python=… a stand-in",
        ),
        (
            PAYROLL | {"faults": [Fault(step="export")]},
            "the fault, step export: the job has no such step; known steps: run",
        ),
        (
            PAYROLL | {"faults": [Fault("2027-03-14")]},
            "the fault on 2027-03-14: nothing is scheduled there; the span has 2027-03-15 09:00 EDT to 2027-03-15 09:00 EDT",
        ),
        (
            PAYROLL | {"faults": [Fault(attempts=4)]},
            "the fault, attempts 4: there are at most 3 attempts (retry.max_attempts)",
        ),
    ],
)
async def test_it_is_refused_before_anything_runs(specs: Path, given: dict[str, Any], message: str) -> None:
    kit = TestKit()

    with pytest.raises(KitError) as refused:
        await kit.run(specs, **given)

    assert str(refused.value) == message
    assert kit._server is None


def test_an_attempt_before_the_first_is_refused() -> None:
    with pytest.raises(KitError, match="attempts count from 1"):
        Fault(attempts=0)


async def test_a_workflow_that_no_module_has_is_told(specs: Path) -> None:
    job = JobSpec.model_validate(
        {
            "name": "a",
            "schedule": "@daily",
            "timezone": "UTC",
            "timeout": "1h",
            "run": {"workflow": {"type": "Approval"}},
        }
    )

    with pytest.raises(KitError) as refused:
        await TestKit().run(job, start="2027-03-01")

    assert str(refused.value) == (
        "step run runs the workflow `Approval`; name its module in modules=[…], or give workflow=… a stand-in"
    )


async def test_a_workflow_of_ones_own_can_be_made_to_fail_only_by_a_stand_in() -> None:
    job = JobSpec(
        name="payouts",
        schedule=(CronEntry(cron="@daily"),),
        timezone="UTC",
        timeout="1h",  # type: ignore[arg-type]  # read by the model
        run=RunSpec.model_validate({"workflow": {"type": "PayoutApproval"}}),
    )

    with pytest.raises(KitError, match="give it a stand-in, workflow=…"):
        await TestKit().run(job, start="2027-03-01", modules=["examples.approval"], faults=[Fault()])


async def test_wrong_specs_are_told_as_by_lint(tmp_path: Path) -> None:
    (tmp_path / "jobs.yaml").write_text("version: 1\nproject: p\njobs: {a: {schedule: often}}\n")

    with pytest.raises(SpecError, match=r"jobs\.yaml:3:"):
        await TestKit().run(tmp_path, start="2027-03-01")


async def test_a_fault_that_does_not_happen_fails_the_test(kit: TestKit, specs: Path) -> None:
    with pytest.raises(KitError) as refused:
        await kit.run(specs, **(PAYROLL | {"faults": [Fault("2027-03-15", attempts=3)]}))

    assert str(refused.value) == (
        "the fault on 2027-03-15, attempts 3: attempt 3 did not happen; "
        "there is an attempt 3 only if those before it fail: attempts=range(1, 4)"
    )


async def test_requests_to_other_machines_are_not_sent(kit: TestKit, specs: Path) -> None:
    [day] = await kit.run(specs, **(NIGHTLY | {"http": None, "end": "2027-03-02"}))

    assert (day.outcome, day.attempts) == ("failed", 1)
    assert day.reason == (
        "step run: https://ledger.internal/post is not on this machine, and this is a test; give http=… a stand-in, or "
        "name the host in allow_hosts"
    )


async def test_a_time_that_names_no_occurrence_or_several_is_told(kit: TestKit, specs: Path) -> None:
    days = await kit.run(specs, job="slow", start="2027-03-14T01:55", end="2027-03-14T03:10", command={})

    assert [f"{each.scheduled_at:%H:%M %Z}" for each in days] == ["01:55 EST", "03:00 EDT", "03:05 EDT"]
    with pytest.raises(KitError) as several:
        days["2027-03-14"]
    with pytest.raises(KitError) as none:
        days["2027-03-14T02:30"]
    assert str(several.value) == (
        "slow has 3 occurrences at 2027-03-14; name one of: 2027-03-14 01:55 EST, 2027-03-14 03:00 EDT, 2027-03-14 03:05 EDT"
    )
    assert str(none.value).startswith("slow has no occurrence at 2027-03-14T02:30; name one of: 2027-03-14 01:55 EST")
