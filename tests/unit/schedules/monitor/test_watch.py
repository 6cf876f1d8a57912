"""What a monitor keeps in mind between two looks, and what it exports."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from prometheus_client import generate_latest

from activities.contract import JobResult
from schedules.ledger.overview import Close
from schedules.ledger.state import state_of
from schedules.monitor.declared import Declared, declared
from schedules.monitor.durations import taken
from schedules.monitor.export import Exporter, Seen
from schedules.monitor.figures import Figures, figures_of
from schedules.monitor.memory import MOST, Memory
from schedules.monitor.monitored_job import DESCRIBE_AT_MOST_EVERY, MonitoredJob
from schedules.plan.fingerprint import fingerprint
from tests.factories import NOW, desired
from tests.prometheus import metrics_are_valid
from tests.unit.schedules.ledger.ledgers import MINUTE, NOON, TEN_MINUTES, job, run

TEN = 10 * MINUTE
HOSTILE = '<b>"quoted" \\ \n\r\t\x1b[31m 🎉 \u202e{{x}} ' + "n" * 1000


def test_the_newest_runs_are_kept_and_the_last_success_and_failure() -> None:
    memory = Memory()
    memory.take([run(NOON), run(NOON + TEN, status="failed")])
    memory.take(run(NOON + number * TEN, status="cancelled", run_id=str(number)) for number in range(2, MOST + 10))

    kept = memory.runs
    assert len(kept) == MOST + 2
    assert {each.verdict for each in kept} == {"succeeded", "failed", "cancelled"}


def test_a_run_that_is_nowhere_any_more_is_forgotten() -> None:
    memory = Memory()
    gone, new, going = run(NOON, None), run(NOON + 2 * TEN, None), run(NOON - TEN, None)
    memory.take([gone, new, going, run(NOON + TEN)])
    memory.forget_ended({going.run_id}, NOON + 2 * TEN)

    assert memory.runs == [new, going, run(NOON + TEN)]


def test_a_job_is_thought_about_anew_only_when_something_happens() -> None:
    known = MonitoredJob(job())
    known.memory.take([run(NOON - TEN), run(NOON)])
    known.update(job(), NOON - 2 * TEN, NOON + MINUTE)
    first = known.look
    known.update(job(), NOON - 2 * TEN, NOON + 2 * MINUTE)
    assert known.look is first
    known.update(job(), NOON - 2 * TEN, NOON + TEN + MINUTE)
    assert known.look is not first
    assert known.state
    assert known.state.overdue == NOON + TEN
    known.memory.take([run(NOON + TEN)])
    known.update(job(), NOON - 2 * TEN, NOON + TEN + MINUTE)
    assert known.state.overdue is None


def test_what_was_explained_once_is_not_asked_again() -> None:
    """A pause that has ended left a hole, which List alone would take for a missed run."""
    known, now = MonitoredJob(job()), NOON + MINUTE
    runs = [run(NOON - 2 * TEN), run(NOON)]
    known.memory.take(runs)
    known.update(job(), NOON - 2 * TEN, now)
    assert known.needs_description
    assert known.state
    assert known.state.missed is None
    full = job(window=3600)
    told = [each if each.run else replace(each, verdict="paused") for each in known.state.occurrences]
    known.learn(Close(full, state_of(full, told, runs, now, since=NOON - 2 * TEN)), None, now)
    known.memory.take([run(NOON + TEN)])
    known.update(job(), NOON - 2 * TEN, NOON + TEN + MINUTE)

    assert not known.needs_description
    assert (known.state.missed, [each.verdict for each in known.state.occurrences]) == (
        0,
        ["succeeded", "paused", "succeeded", "succeeded"],
    )


def test_files_tell_what_is_missing_and_what_is_different() -> None:
    wanted = {name: desired(name) for name in ("same", "other", "absent")}
    listed = {
        name: job(
            name=name,
            times=wanted[name].times,
            workflow_type="JobWorkflow",
            fingerprint=fingerprint(wanted[name]),
            paused=False,
        )
        for name in ("same", "other")
    }
    listed["other"] = job(name="other", times=TEN_MINUTES, workflow_type="JobWorkflow")

    found = {each.job: (each.missing, each.drifted) for each in declared(wanted, listed, NOW)}
    assert found == {"same": (False, False), "other": (False, True), "absent": (True, None)}


def test_hostile_names_make_a_valid_page() -> None:
    figures = Figures(HOSTILE, HOSTILE, next_at=NOON, missed=3, overdue=timedelta(seconds=1.5), paused=True)
    seen = Seen([figures], [Declared(HOSTILE, HOSTILE, True, None, NOON)], NOON, calls={HOSTILE: 1})
    page = generate_latest(Exporter.registry(seen)).decode()

    assert metrics_are_valid(page)
    assert 'tickwright_job_overdue_seconds{job="<b>\\"quoted\\"' in page
    assert "tickwright_job_drift{" not in page


def test_a_pause_that_goes_on_explains_what_is_due_in_it() -> None:
    paused = job(paused=True, note="lunch")
    known = MonitoredJob(paused)
    known.memory.take([run(NOON)])
    known.update(paused, NOON, NOON + TEN + MINUTE)
    assert known.needs_description
    assert known.look
    known.learn(Close(paused, known.look.state), NOON + MINUTE, NOON + TEN + MINUTE)
    known.update(paused, NOON, NOON + 3 * TEN + MINUTE)
    assert (known.needs_description, known.paused_at) == (False, NOON + MINUTE)
    known.update(job(), NOON, NOON + 4 * TEN + MINUTE)
    assert (known.needs_description, known.paused_at) == (True, None)


def test_what_waits_for_a_run_is_asked_again_while_it_goes_on() -> None:
    """List does not show it."""
    buffering = job(overlap="buffer_all", waiting=1)
    known = MonitoredJob(job(overlap=None))
    known.memory.take([run(NOON, None)])
    known.update(job(overlap=None), NOON, NOON + MINUTE)
    assert known.needs_description
    assert known.look
    known.learn(Close(buffering, known.look.state), None, NOON + MINUTE)
    known.update(job(overlap=None), NOON, NOON + TEN + MINUTE)
    assert known.needs_description
    known.memory.take([run(NOON), run(NOON + TEN)])
    known.update(job(overlap=None), NOON, NOON + 2 * TEN)
    assert not known.needs_description


def test_what_the_end_of_a_run_has_told_is_not_forgotten_when_it_is_listed_again() -> None:
    memory = Memory()
    listed = run(NOON, TEN)
    told = replace(listed, result=JobResult("succeeded", "", 590.0, 10.0, 1))
    memory.take([listed])
    memory.mark_told(told)
    memory.changed = False
    memory.take([listed])
    assert memory.runs == [told]
    assert not memory.changed


def test_a_run_that_has_waited_counts_from_when_it_was_seen_with_a_worker() -> None:
    waiting = run(NOON, None, waiting=True)
    now = NOON + TEN
    at_work = taken(waiting, replace(waiting, waiting=False), now)
    assert at_work.taken_at == now
    assert taken(waiting, waiting, now) == waiting
    assert taken(run(NOON, None), run(NOON, None), now).taken_at is None
    state = state_of(job(), [], [at_work], now + MINUTE, since=NOON)
    assert figures_of(job(), state, [at_work], NOON, now + MINUTE).last == MINUTE


def test_a_job_is_looked_at_closely_now_and_then() -> None:
    known = MonitoredJob(job(), needs_description=True)
    assert known.asks(NOON)
    known.described, known.described_at = job(), NOON
    assert not known.asks(NOON + DESCRIBE_AT_MOST_EVERY - timedelta(seconds=1))
    assert known.asks(NOON + DESCRIBE_AT_MOST_EVERY)
    known.needs_description = False
    assert not known.asks(NOON + TEN)


def test_what_overlap_decides_asks_for_a_closer_look_where_the_policy_is_not_known() -> None:
    for ended in (run(NOON, 15 * MINUTE), run(NOON, TEN, status="terminated")):
        known = MonitoredJob(job(overlap=None))
        runs = [ended, *([run(NOON + TEN)] if ended.status == "terminated" else [])]
        known.memory.take([*runs, run(NOON + 2 * TEN)])
        known.update(job(overlap=None), NOON, NOON + 2 * TEN + 2 * MINUTE)
        assert known.needs_description
