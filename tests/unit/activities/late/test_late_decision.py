"""What becomes of a run that starts late, from the schedule's times and what the server tells; expectations by hand."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

import pytest

from activities.contract import CatchUpRequest, LateStart, LateVerdict, NotRun, TimesRequest
from activities.late.decision import Evidence, decide, dropped, lateness, settled_before, started_late
from worker.times import occurrences

HOURLY = TimesRequest("UTC", intervals=[[3600, 0]])
WEEKDAYS = TimesRequest("America/New_York", calendars=["0 0 8 * * 1-5 *"])
NEW_YORK_NIGHTLY = TimesRequest("America/New_York", calendars=["0 30 1 * * * *"])


NOT_PROVEN = Evidence()


def at(text: str) -> str:
    """`03-01 08:00` of 2027, in UTC; a bare `08:00` is of March 1st, a Monday."""
    day, _, clock = text.rpartition(" ")
    return f"2027-{day or '03-01'}T{clock}:00Z"


@dataclass(frozen=True)
class Case:
    """Scheduled, started, first task; without evidence, what was away was back when the run started or a worker took it."""

    scheduled: str
    started: str
    policy: str = "run_latest"
    overlap: str = "skip"
    first_task: str = ""
    max_missed: int = 1
    deadline: float | None = None
    caught_up_to: str = ""
    times: TimesRequest = HOURLY
    evidence: Evidence | None = None
    end_at: str = ""


def verdict(case: Case) -> LateVerdict:
    evidence = case.evidence or Evidence(back=datetime.fromisoformat(at(case.first_task or case.started)))
    return decide(late_start(case), occurrences(case.times), evidence)


def late_start(case: Case) -> LateStart:
    rule = CatchUpRequest(
        policy=case.policy,  # type: ignore[arg-type]  # a table's text
        overlap=case.overlap,
        late_after=60.0,
        window=365 * 86_400,
        max_missed=case.max_missed,
        start_deadline=case.deadline,
        end_at=at(case.end_at) if case.end_at else "",
    )
    return LateStart(
        job="close",
        schedule="close",
        workflow_id=f"close-{at(case.scheduled)}",
        run_id="1",
        scheduled_at=at(case.scheduled),
        started_at=at(case.started),
        first_task_at=at(case.first_task or case.started),
        times=case.times,
        catchup=rule,
        caught_up_to=at(case.caught_up_to) if case.caught_up_to else "",
    )


def server_away(**fields: Any) -> Case:
    """Missed 02:00 to 06:00; the server is back at 06:30 and starts the oldest."""
    return Case(**{"scheduled": "02:00", "started": "06:30", **fields})


def workers_away(**fields: Any) -> Case:
    """02:00 was started on time and waited for a worker until 06:30."""
    return Case(**{"scheduled": "02:00", "started": "02:00", "first_task": "06:30", **fields})


def late_after_a_wait(*, resumed: bool = False, **fields: Any) -> Case:
    """The server was back at 04:30, and started another one then if `resumed`; the run then waited for another one."""
    back = datetime(2027, 3, 1, 4, 30, tzinfo=UTC)
    evidence = Evidence(back=back, resumed=back if resumed else None)
    return Case(**{"scheduled": "02:00", "started": "08:10", "evidence": evidence, **fields})


def summary(found: LateVerdict) -> str:
    """`superseded: 06:00; 3 not run; to 06:00`."""
    if found.run:
        return "run"
    parts = [f"{found.outcome}: {' '.join(each[11:16] for each in found.instead)}"]
    parts += (
        [f"{found.not_run.count} not run {found.not_run.first[11:16]}-{found.not_run.last[11:16]}"]
        if found.not_run
        else []
    )
    parts += [f"to {found.caught_up_to[11:16]}"] if found.caught_up_to else []
    return "; ".join(parts)


OVERLAPS = ("skip", "buffer_one", "buffer_all", "cancel_other", "terminate_other", "allow_all")
OTHERS = "superseded: 06:00; 3 not run 03:00-05:00; to 06:00"


@pytest.mark.parametrize(
    ("case", "expected"),
    [
        # The oldest hands over to the newest; what lies between is accounted for.
        *[(away(overlap=overlap), OTHERS) for away in (server_away, workers_away) for overlap in ("skip", "buffer_one", "buffer_all")],
        *[(away(overlap=overlap), OTHERS) for away in (server_away, workers_away) for overlap in ("cancel_other", "terminate_other")],
        # The newest runs itself.
        (server_away(scheduled="06:00"), "run"),
        (workers_away(scheduled="06:00", started="06:00", overlap="terminate_other"), "run"),
        # Only one was missed.
        (server_away(started="02:30"), "run"),
        (workers_away(first_task="02:59"), "run"),
        (workers_away(first_task="03:00"), "superseded: 03:00; to 03:00"),
        # Both were away: the server was back at 04:30, the workers at 06:30.
        (server_away(started="04:30", first_task="06:30"), OTHERS),
        # A worker that takes a run within `late_after` was not away: what comes due meanwhile is on time.
        (Case("02:00", "03:59", first_task="04:00"), "superseded: 03:00; to 03:00"),
        # run_all: the newest so many, oldest first.
        (server_away(policy="run_all", max_missed=2, overlap="buffer_all"), "superseded: 05:00 06:00; 2 not run 03:00-04:00; to 06:00"),
        (server_away(policy="run_all", max_missed=5, overlap="buffer_all"), "run"),
        (server_away(policy="run_all", max_missed=4, overlap="buffer_all"), "superseded: 03:00 04:00 05:00 06:00; to 06:00"),
        (server_away(scheduled="05:00", policy="run_all", max_missed=2, overlap="buffer_all"), "run"),
        # Under allow_all each decides for itself alone.
        (server_away(overlap="allow_all"), "superseded: "),
        (server_away(scheduled="06:00", overlap="allow_all"), "run"),
        (server_away(scheduled="04:00", overlap="allow_all", policy="run_all", max_missed=2), "superseded: "),
        (server_away(scheduled="05:00", overlap="allow_all", policy="run_all", max_missed=2), "run"),
        (workers_away(scheduled="05:00", started="05:00", overlap="allow_all", policy="run_all", max_missed=2), "run"),
        # skip: none of them, but one that is hardly late was not missed.
        (server_away(policy="skip"), "skipped: ; 4 not run 03:00-06:00; to 06:00"),
        (server_away(scheduled="06:00", policy="skip"), "skipped: "),
        (workers_away(policy="skip", first_task="06:00"), "skipped: 06:00; 3 not run 03:00-05:00; to 06:00"),
        (workers_away(policy="skip", first_task="06:01"), "skipped: 06:00; 3 not run 03:00-05:00; to 06:00"),
        (workers_away(policy="skip", first_task="06:02"), "skipped: ; 4 not run 03:00-06:00; to 06:00"),
        (server_away(policy="skip", overlap="allow_all"), "skipped: "),
        # What is not proven to be missed runs, also where a late run before it has decided about its time.
        *[(Case("02:00", "05:30", overlap=each, evidence=NOT_PROVEN), "run") for each in OVERLAPS],
        *[(Case("03:00", "06:50", overlap=each, evidence=NOT_PROVEN, caught_up_to="06:00"), "run") for each in OVERLAPS],
        (Case("02:00", "05:30", policy="skip", evidence=NOT_PROVEN), "run"),
        # Where one before it decided, what is missed stands back: under buffer_all alone, under buffer_one for the newest.
        (Case("03:00", "06:50", overlap="buffer_all", caught_up_to="06:00"), "superseded: "),
        (Case("03:00", "06:50", overlap="buffer_one", caught_up_to="06:00"), "superseded: "),
        (Case("03:00", "08:50", overlap="buffer_one", caught_up_to="06:00"), "superseded: 08:00; 1 not run 07:00-07:00; to 08:00"),
        (Case("03:00", "08:50", overlap="buffer_all", caught_up_to="06:00"), "superseded: "),
        (Case("03:00", "06:50", overlap="buffer_all", policy="skip", caught_up_to="06:00"), "skipped: "),
        # The server was back at 04:30, the workers at 06:30; the run before this one, which waited for them, has decided up to 06:00.
        (late_after_a_wait(overlap="buffer_all", scheduled="03:00", policy="run_all", max_missed=2, caught_up_to="06:00"), "superseded: "),
        (late_after_a_wait(overlap="buffer_all", scheduled="04:00", caught_up_to="06:00"), "superseded: "),
        # The server was back at 04:30, and the run then waited until 08:10 for the run before it. Under buffer_all those
        # that came due meanwhile start by themselves; under the others this one stands for all.
        *[(late_after_a_wait(overlap=each), "superseded: 08:00; 5 not run 03:00-07:00; to 08:00") for each in ("buffer_one", "cancel_other")],
        (late_after_a_wait(overlap="buffer_all"), "superseded: 04:00; 1 not run 03:00-03:00; to 04:00"),
        (late_after_a_wait(overlap="buffer_all", scheduled="03:00", policy="run_all", max_missed=2), "run"),
        (late_after_a_wait(overlap="buffer_all", policy="run_all", max_missed=2), "superseded: 03:00 04:00; to 04:00"),
        # The first of two that buffer_one kept had started when the server was back; the run before this one, which no worker
        # took, was taken then. What came due after that was left to overlap.
        *[
            (late_after_a_wait(overlap=each, resumed=True), "superseded: 04:00; 1 not run 03:00-03:00; to 04:00")
            for each in ("buffer_one", "cancel_other")
        ],
        (late_after_a_wait(overlap="buffer_one", resumed=True, caught_up_to="04:00"), "superseded: "),
        (late_after_a_wait(overlap="buffer_one", resumed=True, scheduled="04:00"), "run"),
        # start_deadline, in hours: whatever made it late, and also for those that would run in its stead.
        (server_away(scheduled="06:00", deadline=600), "too_late: "),
        (server_away(scheduled="06:00", deadline=1800), "run"),
        (Case("02:00", "05:30", overlap="buffer_all", evidence=NOT_PROVEN, deadline=3600), "too_late: "),
        (server_away(deadline=3600), OTHERS),
        (server_away(deadline=600), "too_late: ; 4 not run 03:00-06:00; to 06:00"),
        (
            server_away(policy="run_all", max_missed=3, overlap="buffer_all", deadline=3600),
            "superseded: 06:00; 3 not run 03:00-05:00; to 06:00",
        ),
        # What somebody asked for by hand.
        (server_away(evidence=Evidence(by_hand=True), deadline=60), "run"),
        # Nothing is due after the schedule's end.
        (workers_away(end_at="04:10"), "superseded: 04:00; 1 not run 03:00-03:00; to 04:00"),
        # Friday 08:00 in New York, found on Monday before eight and after.
        (Case("02-26 13:00", "03-01 12:59", times=WEEKDAYS), "run"),
        (Case("02-25 13:00", "03-01 12:59", times=WEEKDAYS), "superseded: 13:00; to 13:00"),
        (Case("02-26 13:00", "03-01 13:00", times=WEEKDAYS), "superseded: 13:00; to 13:00"),
        # Clocks go forward on March 14th: 08:00 is 13:00 UTC before and 12:00 UTC after.
        (Case("03-11 13:00", "03-16 12:30", times=WEEKDAYS), "superseded: 12:00; 2 not run 13:00-12:00; to 12:00"),
        # Clocks go back on November 7th: 01:30 happens twice, at 05:30 and 06:30 UTC.
        (Case("11-06 05:30", "11-07 06:45", times=NEW_YORK_NIGHTLY), "superseded: 06:30; 1 not run 05:30-05:30; to 06:30"),
    ],
    ids=str,
)  # fmt: skip
def test_what_becomes_of_a_late_run(case: Case, expected: str) -> None:
    assert summary(verdict(case)) == expected


@pytest.mark.parametrize(
    ("case", "reason"),
    [
        (server_away(), "superseded by close-2027-03-01T06:00:00Z"),
        (server_away(overlap="allow_all"), "superseded by close-2027-03-01T06:00:00Z"),
        (
            server_away(policy="run_all", max_missed=3, overlap="buffer_all"),
            "superseded by close-2027-03-01T04:00:00Z and 2 more",
        ),
        (
            Case("03:00", "06:50", overlap="buffer_all", caught_up_to="06:00"),
            "superseded by close-2027-03-01T06:00:00Z",
        ),
        (server_away(policy="skip"), "4h 30m late: the policy of catchup is skip"),
        (server_away(scheduled="03:00", started="03:59", deadline=1800), "too late by 59m: start_deadline is 30m"),
    ],
    ids=str,
)
def test_the_reason_names_what_took_its_place_or_by_how_much_it_was_late(case: Case, reason: str) -> None:
    assert verdict(case).reason == reason


def test_those_that_are_not_run_are_told_with_the_reason() -> None:
    told = verdict(server_away()).not_run
    assert told == NotRun(3, at("03:00"), at("05:00"), "superseded by close-2027-03-01T06:00:00Z")


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        ("01:00", NotRun(4, at("02:00"), at("05:00"), "superseded: the newest 2 of the missed run")),
        ("04:30", NotRun(1, at("05:00"), at("05:00"), "superseded: the newest 2 of the missed run")),
        ("05:00", None),
        ("05:30", None),
        ("", None),
    ],
)
def test_what_the_catch_up_window_did_not_hold_is_counted_by_the_first_that_it_held(
    before: str, expected: NotRun | None
) -> None:
    late = late_start(server_away(scheduled="06:00", overlap="allow_all", policy="run_all", max_missed=2))
    assert dropped(late, occurrences(HOURLY), datetime.fromisoformat(at(before)) if before else None) == expected


@pytest.mark.parametrize(
    ("overlap", "ended", "expected"),
    [
        # The run of 02:00 was at work at 03:00 and 04:00: overlap left these out, whatever was away at 05:00.
        ("skip", "04:20", NotRun(1, at("05:00"), at("05:00"), "superseded: the newest 1 of the missed run")),
        ("buffer_one", "04:20", NotRun(1, at("05:00"), at("05:00"), "superseded: the newest 1 of the missed run")),
        ("skip", "06:10", None),
        ("skip", "", None),
        ("terminate_other", "06:10", NotRun(3, at("03:00"), at("05:00"), "superseded: the newest 1 of the missed run")),
        ("allow_all", "", NotRun(3, at("03:00"), at("05:00"), "superseded: the newest 1 of the missed run")),
    ],
)
def test_what_a_run_at_work_held_back_is_no_miss(overlap: str, ended: str, expected: NotRun | None) -> None:
    late = late_start(server_away(scheduled="06:00", overlap=overlap))
    end = datetime.fromisoformat(at(ended)) if ended else None
    before = settled_before(late, [datetime.fromisoformat(at("02:00")), None], [end])
    assert dropped(late, occurrences(HOURLY), before) == expected


def test_a_run_that_a_late_one_has_started_was_not_started_late_itself() -> None:
    late = late_start(server_away())
    assert started_late(late)
    assert not started_late(replace(late, in_turn=True))


def test_a_long_outage_of_a_job_of_every_minute_is_decided_by_one_run() -> None:
    """Seven days: 10,081 were due from the first on, and one of them runs."""
    minutely = TimesRequest("UTC", intervals=[[60, 0]])
    found = verdict(Case("03-01 00:00", "03-08 00:00", times=minutely))
    assert found.instead == ["2027-03-08T00:00:00Z"]
    assert found.not_run == replace(NotRun(10_079, at("03-01 00:01"), at("03-07 23:59"), ""), reason=found.reason)


@pytest.mark.parametrize(
    ("seconds", "shown"), [(0, "0s"), (59, "59s"), (60, "1m"), (11_520, "3h 12m"), (90_061, "1d 1h"), (86_461, "1d")]
)
def test_lateness_is_shown_in_its_two_largest_units(seconds: float, shown: str) -> None:
    started = datetime(2027, 3, 1, tzinfo=UTC)
    assert lateness(datetime.fromtimestamp(started.timestamp() + seconds, UTC) - started) == shown
