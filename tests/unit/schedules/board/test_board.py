"""What the board makes of what is known of its jobs: cells, marks, times without a run, and what is to come."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, cast

import pytest

from activities.account.facts import Run, Verdict
from schedules.board.asked import Questions
from schedules.board.cells import CELL, Cell, Cells, marks_json
from schedules.board.day import Day
from schedules.board.kinds import KINDS, RANK, kind_of
from schedules.board.latest import Latest
from schedules.board.past import Frame, past
from schedules.board.picture import Picture
from schedules.board.start_counts import STEP, Fires, Grid
from schedules.cron import between
from schedules.ledger.facts import Job
from schedules.ledger.forecast import Planned, forecast
from schedules.ledger.occurrences import Occurrence, ledger
from schedules.ledger.overview import Close
from schedules.ledger.selection import Selection
from schedules.ledger.state import state_of
from schedules.model import Calendar, Interval, Range, Times
from schedules.monitor.monitored_job import MonitoredJob
from tests.factories import job as job_spec
from tests.factories import utc
from tests.unit.schedules.ledger.ledgers import MINUTE, NOON, TEN_MINUTES, job, run

if TYPE_CHECKING:
    from schedules.ledger.records import Records

DAY, HOUR = timedelta(days=1), timedelta(hours=1)
MINUTELY = Times("UTC", intervals=(Interval(60),))
TEN_SECONDS = Times("UTC", intervals=(Interval(10),))
NOW = NOON + timedelta(seconds=5)
ANYONE = Selection(None)


def known_of(given: Job, runs: list[Run], now: datetime = NOW, day: Day | None = None) -> MonitoredJob:
    known = MonitoredJob(given)
    gone = known.memory.take(runs)
    if day:
        day.let_go(gone)
    known.update(given, now - DAY, now)
    return known


def counts(cells: dict[int, Cell]) -> dict[str, int]:
    found: dict[str, int] = {}
    for cell in cells.values():
        for kind, count in cell.counts.items():
            found[kind] = found.get(kind, 0) + count
    return found


def day_of(
    known: MonitoredJob,
    now: datetime = NOW,
    day: Day | None = None,
    counted_from: datetime | None = None,
    grid: Grid | None = None,
) -> dict[int, Cell]:
    frame = Frame.around(now, DAY, counted_from)
    assert known.state
    fires = (grid or Grid()).of(known.job.times, frame.begin, frame.end)
    return past(known, known.state, day or Day(), fires, frame).cells


def occurrence(verdict: Verdict, **fields: Any) -> Occurrence:
    return Occurrence(NOON, verdict, **{"expected": True, "origin": "none", **fields})


def drawn(*known: MonitoredJob, meant: Selection = ANYONE, now: datetime = NOW) -> dict[str, Any]:
    return Picture(meant).drawn({each.job.name: each for each in known}, None, now)


def whole_rows(document: dict[str, Any]) -> list[dict[str, Any]]:
    """The rows with their plans; without the past of the frequent job, of which a new picture knows less."""
    rows = [{**row, "plan": document["plans"][row["plan"]]} for row in document["jobs"]]
    return [{**row, "marks": None, "rank": None} if row["name"] == "often" else row for row in rows]


async def test_the_list_of_a_block_has_all_of_its_occurrences() -> None:
    """As many as a quarter of an hour has seconds, of which the first has failed."""
    given, last = job(times=Times("UTC", intervals=(Interval(1),))), NOON + timedelta(seconds=CELL - 1)
    runs = [run(NOON + timedelta(seconds=at), took=timedelta(0)) for at in range(CELL)]
    runs[0] = replace(runs[0], status="failed")
    known = MonitoredJob(given)
    known.state = state_of(given, ledger(given, runs, NOON, last, last), runs, last, since=NOON)
    told = await Questions(cast("Records", None), "").occurrences(known, NOON)

    assert [(each["at"], each["kind"]) for each in told] == [
        (int(NOON.timestamp()) + at, "succeeded" if at else "failed") for at in range(900)
    ]


@pytest.mark.parametrize(
    ("verdict", "kind"),
    [
        ("missed", "missed"),
        ("paused", "paused"),
        ("overlap_skipped", "left_out"),
        ("superseded", "left_out"),
        ("too_late", "missed"),
        ("buffered", "waiting"),
        ("before_creation", None),
        ("not_due_then", None),
        ("forgotten", None),
        ("not_yet_due", None),
    ],
)
def test_a_time_without_a_run_has_the_mark_of_its_reason(verdict: Verdict, kind: str | None) -> None:
    assert kind_of(occurrence(verdict), NOW) == kind


@pytest.mark.parametrize(
    ("verdict", "kind"),
    [
        ("succeeded", "succeeded"),
        ("failed", "failed"),
        ("timed_out", "failed"),
        ("terminated", "failed"),
        ("compensation_failed", "failed"),
        ("too_late", "missed"),
        ("skipped", "left_out"),
        ("cancelled", "cancelled"),
        ("running", "running"),
        ("waiting", "waiting"),
    ],
)
def test_a_run_has_the_mark_of_its_end(verdict: Verdict, kind: str) -> None:
    assert kind_of(occurrence(verdict, run=run(NOON)), NOW) == kind


def test_what_is_not_certain_is_never_called_missed() -> None:
    assert kind_of(occurrence("missed", certain=False), NOW) == "no_run"


def test_a_start_in_its_grace_is_due_and_later_late() -> None:
    assert kind_of(occurrence("due"), NOON) == "due"
    assert kind_of(occurrence("due"), NOON + timedelta(seconds=1)) == "waiting"


def test_a_cell_shows_the_newest_of_the_worst() -> None:
    cells = Cells()
    begin = int(NOON.timestamp())
    cells.add("succeeded", begin + 800)
    cells.add("failed", begin + 60)
    cells.add("failed", begin + 120)
    cells.add("succeeded", begin + CELL)

    marks = marks_json(cells.by_number, begin)
    assert marks == [
        [120, RANK["failed"], 3, {str(RANK["failed"]): 2, str(RANK["succeeded"]): 1}],
        [CELL, RANK["succeeded"]],
    ]
    assert KINDS[0] == "failed"


def test_a_job_of_ten_minutes_shows_each_of_its_runs() -> None:
    runs = [run(NOON - number * 10 * MINUTE) for number in range(144)]
    runs[3] = run(NOON - 30 * MINUTE, status="failed")

    assert counts(day_of(known_of(job(), runs))) == {"succeeded": 143, "failed": 1}


def test_a_job_of_ten_seconds_is_summed_up_without_losing_a_run() -> None:
    """8,640 runs of a day, of which a Memory keeps 200."""
    given, day = job(times=TEN_SECONDS), Day()
    first = NOON - 8_639 * timedelta(seconds=10)
    runs = [run(first + number * timedelta(seconds=10), took=timedelta(seconds=1)) for number in range(8_640)]
    runs[100] = replace(runs[100], status="failed")
    cells = day_of(known_of(given, runs, day=day), day=day)

    assert counts(cells) == {"succeeded": 8_639, "failed": 1}
    assert len(marks_json(cells, 0)) == 97


def test_a_run_that_is_read_again_counts_once_and_is_forgotten_after_the_day() -> None:
    day = Day()
    for _ in range(3):
        day.let_go([run(NOON)])
    assert counts(day.runs.by_number) == {"succeeded": 1}
    day.forget(int((NOON + HOUR).timestamp()), NOON + HOUR)
    assert counts(day.runs.by_number) == {}


def test_holes_before_the_ledgers_begin_are_without_a_run_and_not_missed() -> None:
    given, day = job(times=MINUTELY), Day()
    runs = [run(NOON - number * MINUTE, took=timedelta(seconds=1)) for number in range(1_440)]
    del runs[1_000:1_030]
    cells = day_of(known_of(given, runs, day=day), day=day)

    assert counts(cells) == {"succeeded": 1_410, "no_run": 30}


def test_a_frequent_job_younger_than_the_window_has_missed_nothing() -> None:
    given = job(times=MINUTELY, created_at=NOON - 2 * HOUR)
    runs = [run(NOON - number * MINUTE, took=timedelta(seconds=1)) for number in range(121)]
    assert "no_run" not in counts(day_of(known_of(given, runs)))


def test_a_job_younger_than_the_window_has_missed_nothing() -> None:
    given = job(created_at=NOON - HOUR + MINUTE)
    runs = [run(NOON - number * 10 * MINUTE) for number in range(6)]
    assert counts(day_of(known_of(given, runs))) == {"succeeded": 6}


def test_a_jittered_start_is_due_until_its_grace_is_over() -> None:
    times = replace(TEN_MINUTES, jitter=300)
    runs = [run(NOON - number * 10 * MINUTE) for number in range(1, 144)]
    late = NOON + 5 * MINUTE
    assert counts(day_of(known_of(job(times=times), runs, late), late)) == {"succeeded": 143, "due": 1}
    too_late = late + MINUTE
    assert counts(day_of(known_of(job(times=times), runs, too_late), too_late)) == {"succeeded": 143, "no_run": 1}


def test_excluded_times_are_not_expected() -> None:
    whole_day = Calendar(day_of_month=(Range(NOON.day, NOON.day),), month=(Range(NOON.month, NOON.month),))
    every = Range(0, 59)
    whole_day = replace(whole_day, second=(every,), minute=(every,), hour=(Range(0, 23),))
    times = replace(TEN_MINUTES, timezone="UTC", exclusions=(whole_day,))
    midnight = NOON.replace(hour=0, minute=0)
    runs = [run(midnight - number * 10 * MINUTE) for number in range(1, 72)]
    assert counts(day_of(known_of(job(times=times), runs))) == {"succeeded": 71}


def test_a_pause_that_was_told_of_is_a_pause() -> None:
    given = job(paused=True, note="lunch")
    runs = [run(NOON - number * 10 * MINUTE) for number in range(6, 144)]
    known = known_of(given, runs)
    known.paused_at = NOON - HOUR + MINUTE
    assert counts(day_of(known)) == {"succeeded": 138, "paused": 6}


def test_a_frequent_job_keeps_what_was_told_of_a_time_when_its_ledger_has_left_it() -> None:
    """Times left out by overlap would else come to be without a run that nobody knows of."""
    given, day = job(times=MINUTELY, overlap="skip"), Day()
    long = run(NOON - 20 * MINUTE, took=10 * MINUTE)
    runs = [run(NOON - number * MINUTE, took=timedelta(seconds=1)) for number in range(1_440) if not 10 < number <= 20]
    known = known_of(given, [*runs, long], day=day)
    assert counts(day_of(known, day=day))["left_out"] == 9
    later = NOW + 4 * HOUR
    day.forget(int((later - DAY).timestamp()), NOW)
    gone = known.memory.take([run(NOON + number * MINUTE, took=timedelta(seconds=1)) for number in range(1, 241)])
    day.let_go(gone)
    known.update(given, later - DAY, later)
    told = counts(day_of(known, later, day))
    assert told["left_out"] == 9
    assert "no_run" not in told


def test_a_time_since_the_last_thought_is_due() -> None:
    known = known_of(job(), [run(NOON - number * 10 * MINUTE) for number in range(144)])
    assert counts(day_of(known, NOON + 10 * MINUTE + timedelta(seconds=2)))["due"] == 1


def test_what_was_not_read_is_not_said_to_lack() -> None:
    given = job(times=MINUTELY)
    runs = [run(NOON - number * MINUTE, took=timedelta(seconds=1)) for number in range(150)]
    known = MonitoredJob(given)
    known.memory.take(runs)
    known.update(given, NOON - 149 * MINUTE, NOW)
    assert "no_run" not in counts(day_of(known, counted_from=NOON - 149 * MINUTE))


@pytest.mark.parametrize(
    ("begin", "end", "hours"),
    [("2027-03-27T23:00", "2027-03-28T22:00", 23), ("2027-10-30T22:00", "2027-10-31T23:00", 25)],
)
def test_local_days_of_clock_changes_have_as_many_hourly_times_as_hours(begin: str, end: str, hours: int) -> None:
    """From midnight to midnight in Berlin; Directive 2000/84/EC: the last Sundays of March and October at 01:00 UTC."""
    hourly = Times("Europe/Berlin", calendars=(Calendar(minute=(Range(0, 0),), hour=(Range(0, 23),)),))
    first, last = (int(utc(each).timestamp()) // STEP for each in (begin, end))
    fires = Fires(hourly, first)
    fires.cover(first, last)
    assert sum(fires.counts) == hours


def test_a_job_of_which_list_shows_too_little_has_no_times_to_come_that_might_be_wrong() -> None:
    document = drawn(known_of(job(exact=False), []), known_of(job(name="over", remaining=0), []))
    assert ([each["plan"] for each in document["jobs"]], sum(document["starts"]["counts"])) == ([None, None], 0)


def test_fires_go_on_from_window_to_window_as_if_walked_anew() -> None:
    times = Times("Europe/Berlin", calendars=(Calendar(minute=(Range(0, 59, 7),), hour=(Range(0, 23),)),))
    first = int(utc("2027-03-27T12:00").timestamp()) // STEP
    moved, anew = Fires(times, first), Fires(times, first + 100)
    moved.cover(first, first + 500)
    moved.cover(first + 100, first + 700)
    anew.cover(first + 100, first + 700)

    assert (moved.first, moved.counts) == (anew.first, anew.counts)
    cells = range((first + 100) * STEP // CELL, (first + 700) * STEP // CELL)
    assert [moved.cell(each) for each in cells] == [anew.cell(each) for each in cells]


def test_the_starts_to_come_are_those_of_forecast() -> None:
    jobs = [
        job(name="minutely", times=MINUTELY),
        job(name="tens", times=TEN_MINUTES),
        job(name="also-tens", times=TEN_MINUTES),
        job(name="resting", times=TEN_SECONDS, paused=True),
    ]
    document = drawn(*(known_of(each, []) for each in jobs))
    starts, end = document["starts"], datetime.fromtimestamp(document["end"], UTC)
    told = forecast([Planned(each.name, each.times, each.paused) for each in jobs], NOW + timedelta(seconds=1), end)
    by_step = [0] * len(starts["counts"])
    for minute, count in told.minutes.items():
        by_step[int(minute.timestamp() - starts["from"]) // STEP] += count

    assert starts["counts"] == by_step
    assert sum(by_step) == told.starts > 1_440


def test_jobs_that_fire_alike_share_their_plan() -> None:
    document = drawn(known_of(job(name="one"), []), known_of(job(name="other"), []))
    times = list(between(TEN_MINUTES, NOW, datetime.fromtimestamp(document["end"], UTC)))

    assert [each["plan"] for each in document["jobs"]] == [0, 0]
    assert len(document["plans"]) == 1
    assert sum(each[1] if isinstance(each, list) else 1 for each in document["plans"][0]) == len(times)


def test_a_job_in_trouble_comes_before_one_that_is_well() -> None:
    runs = [run(NOON - number * 10 * MINUTE) for number in range(144)]
    failing = known_of(job(name="failing"), [run(NOON, status="failed", id="failing-2027-03-01T12:00:00Z"), *runs[1:]])
    was = known_of(job(name="was"), [runs[0], run(NOON - 10 * MINUTE, status="failed"), *runs[2:]])
    well = known_of(job(name="well"), runs)
    ranks = {each["name"]: each["rank"] for each in drawn(failing, was, well)["jobs"]}
    assert ranks["failing"] < ranks["was"] < ranks["well"]


def test_a_job_of_the_files_without_a_schedule_is_shown_with_its_labels() -> None:
    spec = job_spec("absent", labels={"team": "ledger"})
    meant = Selection("billing/production", jobs={"absent": spec}, times={"absent": TEN_MINUTES})
    [row] = drawn(meant=meant)["jobs"]
    assert (row["name"], row["state"], row["labels"], row["marks"]) == ("absent", "missing", ["team=ledger"], [])


def test_a_thousand_jobs_of_ten_minutes_stay_small() -> None:
    runs = [run(NOON - number * 10 * MINUTE) for number in range(144)]
    many = [known_of(job(name=f"job-{number}"), runs) for number in range(50)]
    latest = Latest(timedelta(seconds=30))
    latest.show(drawn(*many), NOW)
    assert len(latest.document.plain) / len(many) < 3_000
    assert len(latest.document.packed) / len(many) < 500


def test_a_picture_that_goes_on_from_the_last_one_is_as_one_drawn_anew() -> None:
    """Rows that need not be drawn again are kept from look to look: through half a day, in which things happen."""
    given = [
        job(name="tens"),
        job(name="often", times=MINUTELY),
        job(name="daily", times=Times("UTC", intervals=(Interval(86_400, 100),))),
    ]
    known = [known_of(each, [run(NOON - number * 10 * MINUTE) for number in range(144)]) for each in given]
    kept = Picture(ANYONE)
    for place in range(60):
        now = NOW + place * timedelta(minutes=3, seconds=40)
        if place % 5 == 1:
            known[0].memory.take(
                [
                    run(
                        now.replace(minute=now.minute // 10 * 10, second=0),
                        status="failed" if place % 2 else "completed",
                    )
                ]
            )
        for each in known:
            each.update(each.job, now - DAY, now)
        by_name = {each.job.name: each for each in known}
        assert whole_rows(kept.drawn(by_name, None, now)) == whole_rows(Picture(ANYONE).drawn(by_name, None, now))


def test_a_look_that_failed_keeps_what_was_known_and_says_so_once() -> None:
    latest = Latest(timedelta(seconds=30))
    latest.show(drawn(known_of(job(), [run(NOON)])), NOW)
    shown = latest.document
    latest.fail("the server is\naway")
    away = latest.document
    latest.fail("the server is\naway")

    assert latest.document is away
    assert away.tag != shown.tag
    assert b'"trouble":"the server is away"' in away.plain
    assert b'"name":"relay"' in away.plain


def test_runs_that_were_let_go_make_no_time_seem_missed() -> None:
    """A job of five minutes has 288 times a day; with runs by hand besides, the ledger would reach back further than the runs kept."""
    given = job(times=Times("UTC", intervals=(Interval(450),)))
    runs = [run(NOON - number * timedelta(seconds=450), took=timedelta(seconds=1)) for number in range(192)]
    by_hand = [
        run(NOON - number * MINUTE - timedelta(seconds=7), took=timedelta(seconds=1), run_id=f"hand-{number}")
        for number in range(60)
    ]
    known = known_of(given, [*runs, *by_hand])
    assert known.state
    assert {each.verdict for each in known.state.occurrences} == {"succeeded"}


def test_a_hole_that_a_closer_look_explained_stays_explained() -> None:
    known = known_of(job(), [run(NOON - number * 10 * MINUTE) for number in range(144) if number != 5])
    assert counts(day_of(known))["no_run"] == 1
    assert known.state
    told = [each if each.run else replace(each, verdict="missed", certain=True) for each in known.state.occurrences]
    known.learn(Close(known.job, state_of(known.job, told, known.memory.runs, NOW, since=NOW - DAY)), None, NOW)
    assert counts(day_of(known))["missed"] == 1


def cells_of_looks(runs: list[Run], begin: datetime, until: datetime) -> dict[int, Cell]:
    """Of a job of every five seconds that leaves out what overlaps, by a board that looks each half minute from its creation on."""
    given = job(times=Times("UTC", intervals=(Interval(5),)), overlap="skip", created_at=begin - timedelta(seconds=1))
    known, day, grid, now = MonitoredJob(given), Day(), Grid(), begin
    cells: dict[int, Cell] = {}
    while (now := now + timedelta(seconds=30)) <= until:
        begun = [each for each in runs if each.started_at <= now]
        day.let_go(known.memory.take([each if _has_ended(each, now) else _going(each) for each in begun]))
        known.update(given, begin, now)
        cells = day_of(known, now, day, grid=grid)
    return cells


def _has_ended(each: Run, now: datetime) -> bool:
    return each.closed_at is not None and each.closed_at <= now


def _going(each: Run) -> Run:
    return replace(each, closed_at=None, status="running")


def starts_of_a_slow_job(begin: datetime, end: datetime) -> list[Run]:
    """Of every five seconds, each of twelve: every third is started, and two are left out."""
    step = timedelta(seconds=15)
    return [run(begin + place * step, took=timedelta(seconds=12)) for place in range((end - begin) // step)]


@pytest.mark.parametrize(("every", "into"), [(1, 92), (2, 390), (5, 400), (6, 400)])
def test_times_still_to_come_are_not_without_a_run(every: int, into: int) -> None:
    """So many seconds into a quarter of an hour, which is longer than the ledger, with every run there."""
    given, now = job(times=Times("UTC", intervals=(Interval(every),))), NOON + timedelta(seconds=into)
    runs = [run(NOON + timedelta(seconds=at), took=timedelta(milliseconds=100)) for at in range(0, into + 1, every)]
    known = known_of(given, runs, now)
    assert known.state
    assert known.state.since
    assert known.state.since > NOON

    assert counts(day_of(known, now, counted_from=NOON)) == {"succeeded": into // every + 1}


def test_a_hole_of_a_fast_job_in_the_running_quarter_is_counted_up_to_now() -> None:
    """Of a job of every second whose ledger holds 84 s, the ten times from 12:05:00 on have no run."""
    given, now = job(times=Times("UTC", intervals=(Interval(1),))), NOON + timedelta(seconds=600)
    runs = [
        run(NOON + timedelta(seconds=at), took=timedelta(milliseconds=100)) for at in range(601) if not 300 <= at < 310
    ]
    known, day = MonitoredJob(given), Day()
    day.let_go(known.memory.take(runs))
    known.update(given, NOON, now)
    assert counts(day_of(known, now, day, counted_from=NOON)) == {"succeeded": 591, "no_run": 10}


def test_a_fast_job_keeps_why_its_times_have_no_run_when_its_ledger_has_left_them() -> None:
    """Its ledger of 337 s never holds a quarter: 900 / 15 starts in each, and twice as many left out."""
    begin, until = NOON + MINUTE, NOON + 50 * MINUTE
    cells = cells_of_looks(starts_of_a_slow_job(begin, until), begin, until)
    first = int(NOON.timestamp()) // CELL

    assert cells[first].counts == {"succeeded": 56, "left_out": 112}
    assert cells[first + 1].counts == {"succeeded": 60, "left_out": 120}
    assert cells[first + 2].counts == {"succeeded": 60, "left_out": 120}


def test_a_time_that_was_told_to_be_without_a_run_and_gets_one_counts_once() -> None:
    """A backfill after half an hour makes up for the first of those that were left out."""
    until = NOON + 50 * MINUTE
    late = run(NOON + timedelta(seconds=5), took=timedelta(seconds=1), late=30 * MINUTE)
    cells = cells_of_looks([*starts_of_a_slow_job(NOON, until), late], NOON, until)

    assert cells[int(NOON.timestamp()) // CELL].counts == {"succeeded": 61, "left_out": 119}


def test_what_a_look_accounted_for_is_kept_by_the_cell_and_given_back_to_a_ledger_that_reaches_further() -> None:
    """Looks at 100 s and 200 s, whose ledgers hold 60 s; then one that reaches back to the begin."""
    day, cell = Day(), Cell()
    day.account({50: "left_out", 90: None, 99: "due"}, 40, 101)
    day.account({150: "missed"}, 140, 201)
    assert (day.add_without(0, cell), cell.counts) == (1, {"left_out": 1, "no_run": 1})
    day.account({50: "missed"}, 0, 301)
    again = Cell()
    assert (day.add_without(0, again), again.counts) == (0, {})


def test_a_cell_is_accounted_for_where_looks_have_followed_each_other_from_its_begin_to_its_end() -> None:
    day = Day()
    for until in range(CELL, 4 * CELL, 30):
        day.account({}, until - 60, until + 1)
    assert [number for number in range(6) if day.is_accounted(number)] == [1, 2]
    gap = Day()
    for until in range(CELL, 4 * CELL, 90):
        gap.account({}, until - 60, until + 1)
    assert not any(gap.is_accounted(number) for number in range(6))
