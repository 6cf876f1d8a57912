"""The account of one occurrence needs runs of other times: read here from the twin of a namespace."""

from __future__ import annotations

from datetime import timedelta

import pytest

from activities.contract import CatchUpRequest, JobResult, NotRun
from activities.occurrence import stamp
from schedules.ledger.account import account
from schedules.ledger.selection import asked_for
from tests.records_twin import RecordsInMemory
from tests.unit.schedules.ledger.ledgers import MINUTE, NOON, job, run

REASON = "superseded by a newer occurrence"
TEN = 10 * MINUTE
SECOND = timedelta(seconds=1)
LATER = NOON + timedelta(hours=2)


def decided(first: int, last: int) -> JobResult:
    """The result of a run that decided about occurrences; the numbers count from noon."""
    about = NotRun(last - first + 1, stamp(NOON + first * TEN), stamp(NOON + last * TEN), REASON)
    return JobResult("succeeded", stamp(NOON), 0.0, 60.0, 1, not_run=about)


@pytest.mark.parametrize("number", [1, 2])
async def test_a_run_still_at_work_then_accounts_for_times_after_its_own(number: int) -> None:
    twin = RecordsInMemory()
    twin.add(run(NOON, took=25 * MINUTE, result=decided(1, 2)), run(NOON + 3 * TEN))
    at = NOON + number * TEN
    (found,) = (await account(twin, job(), at, at, LATER)).occurrences
    assert (found.verdict, found.reason, found.run) == ("superseded", REASON, None)


async def test_a_late_run_of_a_newer_time_accounts_for_times_before_it() -> None:
    twin = RecordsInMemory()
    twin.add(run(NOON + 2 * TEN, late=30 * MINUTE, result=decided(0, 1)))
    (found,) = (await account(twin, job(), NOON, NOON, LATER)).occurrences
    assert (found.verdict, found.reason) == ("superseded", REASON)


async def test_a_run_that_is_hardly_late_accounts_for_times_before_it_where_its_job_calls_that_late() -> None:
    twin = RecordsInMemory()
    twin.add(run(NOON + TEN, took=SECOND, late=5 * SECOND, result=decided(0, 0)))
    hasty = job(catchup=CatchUpRequest("run_latest", "skip", 2.0, 600.0))
    (found,) = (await account(twin, hasty, NOON, NOON, LATER)).occurrences
    assert (found.verdict, found.reason) == ("superseded", REASON)


async def test_a_run_that_had_ended_before_is_not_asked() -> None:
    twin = RecordsInMemory()
    twin.add(run(NOON, took=MINUTE, result=decided(1, 1)))
    at = NOON + TEN
    (found,) = (await account(twin, job(), at, at, LATER)).occurrences
    assert found.verdict != "superseded"


async def test_a_run_that_no_worker_has_taken_waits() -> None:
    twin = RecordsInMemory()
    twin.add(run(NOON, took=None, waiting=True))
    (found,) = (await account(twin, job(), NOON, NOON, NOON + TEN - MINUTE)).occurrences
    assert found.verdict == "waiting"


async def test_of_more_runs_than_an_account_holds_the_newest_are_told() -> None:
    twin = RecordsInMemory()
    twin.add(*(run(NOON + number * TEN) for number in range(1_500)))
    end = NOON + 1_499 * TEN
    found = await account(twin, job(), NOON, end, end + TEN)
    times = [each.scheduled_at for each in found.occurrences]
    assert times == [end - number * TEN for number in reversed(range(len(times)))]
    assert 500 < len(times) <= 1_000
    assert NOON < found.since <= times[0]


async def test_of_a_new_job_the_first_time_is_meant_where_none_is_named() -> None:
    """It never had to run: its times before are those of no schedule."""
    new = job(created_at=NOON - MINUTE)
    (at,) = (await asked_for(RecordsInMemory(), new, "", NOON - MINUTE)).instants
    (found,) = (await account(RecordsInMemory(), new, at, at, NOON - MINUTE)).occurrences
    assert (found.scheduled_at, found.verdict) == (NOON, "not_yet_due")


@pytest.mark.parametrize(("is_v2", "verdict"), [(True, "superseded"), (False, "missed")])
@pytest.mark.parametrize("busy", [False, True])
async def test_where_no_record_tells_the_silence_of_the_namespace_does(
    verdict: str, *, is_v2: bool, busy: bool
) -> None:
    """Nothing of 12:10, and 12:20 on time: something else of the namespace went on, or nothing did."""
    twin = RecordsInMemory()
    twin.add(run(NOON), run(NOON + 2 * TEN))
    if busy:
        twin.add(run(NOON + TEN, late=40 * SECOND, id="another-2027-03-01T12:10:00Z"))
    rule = CatchUpRequest("run_latest", "terminate_other", 60.0, 1e6)
    given = job(overlap="terminate_other", catchup=rule, is_v2=is_v2)
    (found,) = (await account(twin, given, NOON + TEN, NOON + TEN, LATER)).occurrences
    assert found.verdict == ("missed" if busy else verdict)
