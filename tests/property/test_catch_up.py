"""For any schedule, outage and overlap policy: the server's own starts and our decisions together run exactly what is wanted."""

from __future__ import annotations

from itertools import accumulate
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from activities.contract import CatchUpRequest
from tests.property.native_starts import Away, Model, seconds

OVERLAPS = ("skip", "buffer_one", "buffer_all", "cancel_other", "terminate_other", "allow_all")
YEAR = 365 * 86_400.0
SLACK = 10
LATE_AFTER = 2.0


@st.composite
def schedules(draw: st.DrawFn) -> list[int]:
    """Seconds, at least five apart: regular, or a pattern that repeats."""
    gaps = draw(st.lists(st.integers(5, 40), min_size=1, max_size=4))
    return list(accumulate(gaps[place % len(gaps)] for place in range(60)))


def is_calm(times: list[int], end: float) -> bool:
    """Whether what ends then has no times near its end: a run that is hardly late has not been missed, one in progress neither."""
    return not any(end - 2 * LATE_AFTER - 5 <= at <= end + 2.5 for at in times)


@st.composite
def outages(draw: st.DrawFn, times: list[int]) -> tuple[Away, list[tuple[float, float]]]:
    """One or two in a row; each as what was away, and from when until when nothing could run."""
    spans, server, workers, at = [], [], [], float(times[3])
    for _ in range(draw(st.integers(1, 2))):
        begin = int(at) + draw(st.integers(3, 60)) + 0.5
        end = begin + draw(st.integers(5, 200))
        kind = draw(st.sampled_from(["server", "workers", "both"]))
        if kind != "workers":
            earlier = [end - before for before in range(41) if begin < end - before and is_calm(times, end - before)]
            server.append((begin, draw(st.sampled_from(earlier)) if kind == "both" and earlier else end))
        if kind != "server":
            workers.append((begin, end))
        spans.append((begin, end))
        at = end + 30
    assume(at < times[-8])
    for begin, end in spans:
        assume(is_calm(times, end) and not any(begin - 1 < t < begin for t in times))
    return Away(tuple(server), tuple(workers)), spans


def rule(times: list[int], overlap: str, policy: str, most: int) -> CatchUpRequest:
    if overlap == "allow_all":
        span = max(later - earlier for earlier, later in zip(times, times[most:], strict=False))
        window = LATE_AFTER + SLACK if policy == "skip" else float(span + SLACK)
    else:
        window = YEAR
    checked: Any = policy
    return CatchUpRequest(checked, overlap, LATE_AFTER, window, max_missed=most)


@settings(max_examples=60)
@given(st.data())
@pytest.mark.parametrize("overlap", OVERLAPS)
def test_exactly_the_wanted_runs_are_made_up_for(overlap: str, data: st.DataObject) -> None:
    times = data.draw(schedules())
    away, spans = data.draw(outages(times))
    policies = ["skip", "run_latest"] + (["run_all"] if overlap in {"buffer_all", "allow_all"} else [])
    policy = data.draw(st.sampled_from(policies))
    most = data.draw(st.integers(1, 4)) if policy == "run_all" else 1
    model = Model(times, rule(times, overlap, policy, most), away).play()

    missed = [[at for at in times if begin < at <= end] for begin, end in spans]
    on_time = [at for at in times if not any(at in span for span in missed)]
    wanted = [] if policy == "skip" else [at for span in missed for at in span[-most:]]
    assert sorted(model.ran) == sorted(on_time + wanted)
    if overlap != "allow_all":
        assert model.ran == sorted(model.ran)


@settings(max_examples=60)
@given(st.data())
@pytest.mark.parametrize("overlap", ["skip", "buffer_one"])
def test_all_that_does_not_run_is_accounted_for(overlap: str, data: st.DataObject) -> None:
    """By an outcome of its own run, or in the count of the late run that stood back for all."""
    times = data.draw(schedules())
    away, spans = data.draw(outages(times))
    model = Model(times, rule(times, overlap, "run_latest", 1), away).play()

    missed = {at for begin, end in spans for at in times if begin < at <= end}
    told: set[int] = set()
    for at, verdict in model.late.items():
        told |= set() if verdict.run else {at}
        if verdict.not_run:
            first, last = seconds(verdict.not_run.first), seconds(verdict.not_run.last)
            span = {each for each in times if first <= each <= last}
            assert verdict.not_run.count == len(span)
            told |= span
    assert told == missed - set(model.ran)


def test_seven_days_away_are_no_flood() -> None:
    """Hourly, the newest three do the work of 168 missed ones; under `allow_all` the server starts four at the most."""
    times = [hour * 3_600 for hour in range(24 * 9)]
    begin, end = 24 * 3_600 + 100.0, 8 * 24 * 3_600 + 100.0
    for overlap, window, most in (("allow_all", 3 * 3_600.0 + SLACK, 4), ("buffer_all", YEAR, 168)):
        three = CatchUpRequest("run_all", overlap, 60.0, window, max_missed=3)
        model = Model(times, three, Away(server=((begin, end),))).play()
        assert [at for at in model.ran if begin < at <= end] == [end - 100 - 7_200, end - 100 - 3_600, end - 100]
        assert len(model.late) <= most
