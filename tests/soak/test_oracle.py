"""The oracle itself: it finds what is lost, doubled, one too many or told wrongly, and nothing where all is well."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.soak.answers import expected
from tests.soak.cases import Ground
from tests.soak.jobs import Job, every
from tests.soak.operators import Pause
from tests.soak.oracle import judge
from tests.soak.presence import Outage, Presence, outages
from tests.soak.seen import Run

JOB = Job("job", "run_latest", "skip", (every(20),), "note")
BEGIN, END = 1_000_010.0, 1_000_210.0
DUE = list(range(1_000_020, 1_000_201, 20))
AWAY = Outage(1_000_075, 1_000_156, ((1_000_076, 1_000_152),))
"""Of the times from 080 to 140 the one of 140 is the newest."""
MISSED, NEWEST = (1_000_080, 1_000_100, 1_000_120), 1_000_140


def ran(at: int, late: float = 0.1, lasts: float = 1.0) -> Run:
    start = at + late
    return Run(
        JOB.run_id(at), f"run-{at}", "succeeded", start, start + lasts, taken=start, begun=start, outcome="succeeded"
    )


def decided(at: int, late: float, outcome: str = "superseded") -> Run:
    return replace(ran(at, late), begun=None, outcome=outcome, closed=at + late + 0.1)


def ground(runs: list[Run], job: Job = JOB, outage: Outage | None = None, pauses: list[Pause] | None = None) -> Ground:
    return Ground([(0.0, 1.0, job)], [outage] if outage else [], pauses or [], [], runs)


def kinds(given: Ground) -> list[str]:
    return [finding.kind for finding in judge(given, BEGIN, END, END + 100).findings]


def without(*times: int) -> list[Run]:
    return [ran(at) for at in DUE if at not in times]


def after_outage(*times: int) -> list[Run]:
    """What came due in it runs at its end."""
    return [*without(*MISSED, NEWEST), *(ran(at, 1_000_153 - at) for at in times)]


def test_what_ran_on_time_is_well() -> None:
    assert kinds(ground(without())) == []


def test_a_time_without_a_run_is_lost() -> None:
    assert kinds(ground(without(DUE[3]))) == ["lost"]


def test_nothing_is_decided_about_a_time_at_which_all_was_there() -> None:
    assert kinds(ground([*without(DUE[3]), decided(DUE[3], 12)])) == ["lost"]


def test_overlap_excuses_only_while_a_run_is_at_work() -> None:
    assert kinds(ground([*without(DUE[3], DUE[2]), ran(DUE[2], lasts=30)])) == []
    assert kinds(ground([*without(DUE[3], DUE[2]), ran(DUE[2], lasts=10)])) == ["lost"]


def test_two_runs_of_one_time_are_doubled() -> None:
    assert "doubled" in kinds(ground([*without(), replace(ran(DUE[3], 2), run_id="again")]))


def test_the_newest_of_an_outage_runs_and_no_other() -> None:
    assert kinds(ground(after_outage(NEWEST), outage=AWAY)) == []
    assert set(kinds(ground(after_outage(), outage=AWAY))) == {"lost"}
    assert "flood" in kinds(ground(after_outage(1_000_100, NEWEST), outage=AWAY))
    assert "lost" in kinds(ground(after_outage(1_000_100), outage=AWAY))


def test_what_catch_up_wants_is_the_policys_to_say() -> None:
    none, two = replace(JOB, policy="skip"), replace(JOB, policy="run_all", overlap="buffer_all", most=2)
    assert kinds(ground(after_outage(1_000_120, NEWEST), two, AWAY)) == ["overlapped"]
    assert "lost" in kinds(ground(after_outage(NEWEST), two, AWAY))
    assert "flood" in kinds(ground(after_outage(1_000_120), none, AWAY))


def test_a_deadline_is_kept() -> None:
    prompt = replace(JOB, deadline=15)
    assert kinds(ground([*without(DUE[3]), ran(DUE[3], 30)], replace(prompt, overlap="buffer_all")))[0] == "too_late"
    assert kinds(ground([*without(DUE[3]), decided(DUE[3], 16, "too_late")], prompt)) == []
    assert kinds(ground([*without(DUE[3]), decided(DUE[3], 9, "too_late")], prompt)) == ["lost"]


@pytest.mark.parametrize(("most", "runs", "found"), [(0, 0, []), (1, 1, []), (1, 0, ["lost"]), (0, 1, ["flood"])])
def test_after_a_pause_runs_what_the_resume_was_told(most: int, runs: int, found: list[str]) -> None:
    pause = Pause("job", 1_000_070, 1_000_072, 1_000_130, 1_000_131, most, resumed=True)
    newest = [ran(1_000_120, 12)] if runs else []
    assert kinds(ground([*without(1_000_080, 1_000_100, 1_000_120), *newest], pauses=[pause])) == found


def test_the_reason_told_is_the_one_that_held() -> None:
    given = ground(after_outage(NEWEST), outage=AWAY)
    cases = {case.at: case for case in given.cases(BEGIN, END)}
    assert expected(given, list(cases.values()), cases[1_000_100]) == {"superseded"}
    assert expected(given, list(cases.values()), cases[NEWEST]) == {"succeeded"}


def test_an_outage_is_when_the_server_or_all_workers_are_away() -> None:
    """From 30 to 40 the first worker, from 35 to 60 the second one: none is there from 35 to 40."""
    server, first, second = (Presence() for _ in range(3))
    for each in (server, first, second):
        each.is_there(0, 0)
    for each, gone, back in ((first, 30, 40), (second, 35, 60)):
        each.leaves(gone)
        each.is_gone(gone + 0.5)
        each.returns(back - 1)
        each.is_there(back, 4)
    for each in (server, first, second):
        each.end(100)
    [outage] = outages(server, [first, second], 0, 100)
    assert (outage.start, outage.end, outage.sure) == (35, 44, ((35.5, 39),))
