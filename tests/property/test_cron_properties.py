"""What holds for every input, however odd: bounded work, one error type, and times that agree with each other."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from itertools import islice, pairwise
from random import Random

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from schedules.cron import DIALECTS, CronError, Occurrences, compile_cron, compile_every
from schedules.model import Times
from tests.oracle.random_jobs import GAPS, REPEATS, ZONES, Gap, Job, Repeat, random_job

START = datetime(2027, 1, 1, tzinfo=UTC)
END = datetime(2029, 12, 31, tzinfo=UTC)
EXAMPLES = int(os.environ.get("FUZZ_EXAMPLES", "40"))
LONGEST_WORK = 1.5  # seconds of processor time, on a busy machine, for any 200 characters

cronlike = st.text(alphabet="0123456789*/,-LW#?H~()@ \tMONJANFRIevrydailyTZ=:.%", max_size=200)
fields = st.lists(
    st.lists(
        st.sampled_from(
            [
                "*",
                "0",
                "1",
                "5",
                "29",
                "31",
                "L",
                "LW",
                "L-3",
                "15W",
                "1W",
                "31W",
                "5#1",
                "5L",
                "?",
                "H",
                "H/7",
                "~",
                "1-5",
                "22-2",
                "*/7",
                "0/9",
                "MON",
                "JAN",
            ]
        ),
        min_size=1,
        max_size=30,
    ).map(",".join),
    min_size=4,
    max_size=8,
).map(lambda each: " ".join(each)[:200])
expressions = st.one_of(cronlike, fields, st.text(max_size=200))
jobs = st.integers(0, 10**9).map(lambda seed: random_job(Random(seed)))
moments = st.integers(-200 * 86400, 1200 * 86400).map(lambda seconds: START + timedelta(seconds=seconds))


def occurrences(job: Job) -> Occurrences:
    return Occurrences(times(job))


def times(job: Job) -> Times:
    compiled = compile_cron(
        job.expression,
        timezone=job.zone,
        dialect=job.dialect,
        gap=job.gap,
        repeat=job.repeat,
        horizon_start=START,
        horizon_end=END,
        excluded_days=job.excluded,
    )
    return Times(compiled.timezone, compiled.calendars, compiled.intervals, compiled.exclusions, end_at=compiled.end_at)


@given(
    expressions,
    st.sampled_from(sorted(DIALECTS)),
    st.sampled_from(ZONES),
    st.sampled_from(GAPS),
    st.sampled_from(REPEATS),
)
@example(
    "* * *,1W,2W,3W,4W,5W,6W,7W,8W,9W,10W,11W,12W,13W,14W,16W,17W,18W,19W,L-1 * 1#1,2#2,3#3,4#4,5L,6L",
    "cron",
    "Europe/Berlin",
    "shift",
    "both",
)
@example("1-59 1-58 * * * * *", "temporal", "Europe/Berlin", "shift", "both")
@example("* * * ? * SUN", "quartz", "Europe/Berlin", "run_after", "first")
@example("0-99999999/1 * * * *", "cron", "UTC", "skip", "both")
@example("@every 99999999999h", "cron", "UTC", "skip", "both")
@example("crontab(" + "(" * 150, "celery", "UTC", "skip", "both")
@example("\x00", "celery", "UTC", "skip", "both")
@settings(max_examples=3 * EXAMPLES)
def test_any_text_is_compiled_and_evaluated_or_refused_in_bounded_time(
    text: str, dialect: str, zone: str, gap: Gap, repeat: Repeat
) -> None:
    begun = time.process_time()
    with suppress(CronError):
        found = occurrences(Job(text, dialect, zone, gap, repeat))
        list(islice(found.between(START, END), 10))
        found.next_after(END)
        found.previous_before(START)
    assert time.process_time() - begun < LONGEST_WORK


@given(jobs, moments)
@settings(max_examples=EXAMPLES)
def test_times_strictly_increase_and_stepping_equals_listing(job: Job, start: datetime) -> None:
    found = occurrences(job)
    listed = list(islice(found.between(start + timedelta(seconds=1), END), 30))
    assert all(before < after for before, after in pairwise(listed))
    stepped: list[datetime] = []
    moment = start
    while len(stepped) < len(listed):
        after = found.next_after(moment)
        assert after is not None
        stepped.append(moment := after)
    assert stepped == listed


@given(jobs, moments)
@settings(max_examples=EXAMPLES)
def test_backwards_gives_the_same_times_as_forwards(job: Job, start: datetime) -> None:
    found = occurrences(job)
    listed = list(islice(found.between(start, END), 12))
    for before, after in pairwise(listed):
        assert found.previous_before(after) == before
        assert found.next_after(before) == after
        assert found.previous_before(after - timedelta(milliseconds=1)) == before


@given(jobs, moments)
@settings(max_examples=EXAMPLES)
def test_the_parts_together_are_the_whole(job: Job, start: datetime) -> None:
    whole = times(job)
    end = start + timedelta(days=40)
    parts = [Times(whole.timezone, (each,), (), whole.exclusions, end_at=whole.end_at) for each in whole.calendars]
    parts += [Times(whole.timezone, (), (each,), whole.exclusions, end_at=whole.end_at) for each in whole.intervals]
    union = {each for part in parts for each in islice(Occurrences(part).between(start, end), 2000)}
    assert sorted(union)[:2000] == list(islice(Occurrences(whole).between(start, end), 2000))


@given(jobs, moments)
@settings(max_examples=EXAMPLES)
def test_the_count_between_two_instants_adds_up(job: Job, start: datetime) -> None:
    found = occurrences(job)
    middle, end = start + timedelta(days=1, seconds=7), start + timedelta(days=3)
    assert found.count_between(start, end) == found.count_between(start, middle) + found.count_between(middle, end)


@given(st.integers(1, 10**7), st.data(), moments)
def test_an_interval_fires_on_its_grid_alone(every: int, data: st.DataObject, start: datetime) -> None:
    offset = data.draw(st.integers(0, every - 1))
    compiled = compile_every(every, offset)
    after = Occurrences(Times("UTC", intervals=compiled.intervals)).next_after(start)
    assert after is not None
    assert (int(after.timestamp()) - offset) % every == 0
    assert timedelta(0) < after - start <= timedelta(seconds=every)


@pytest.mark.parametrize("length", [201, 1000, 20_000])
def test_longer_texts_are_no_slower_than_their_length(length: int) -> None:
    begun = time.process_time()
    with pytest.raises(CronError):
        occurrences(Job("1," * length, "cron", "UTC", "skip", "both"))
    assert time.process_time() - begun < LONGEST_WORK
