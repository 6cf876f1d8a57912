"""The rules: what may have become of each time, given what the world was like. None of it asks the product."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from itertools import groupby, pairwise
from typing import TYPE_CHECKING

from tests.soak.cases import Case, Ground, State
from tests.soak.jobs import stamp
from tests.soak.seen import DECIDED, time_of
from tests.soak.spans import around

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.soak.seen import Run

TOLERANCE = 5.0
"""Seconds between a run's first task and its first step, at the most, on a busy machine."""
RACE = 2.0
"""Seconds; the V2 scheduler starts another run beside one of which it has not heard yet that it has been started."""
BY_POLICY = "by schedule overlap policy"
WAITING = frozenset({"buffer_one", "buffer_all", "cancel_other"})


@dataclass(frozen=True)
class Finding:
    """Something that should not be: `lost`, `doubled`, `flood`, `too_late`, `overlapped`, `stranger`, `unfinished` or `verdict`."""

    kind: str
    job: str
    at: float
    text: str

    def __str__(self) -> str:
        return f"{self.kind.upper()} {self.job} {stamp(self.at)}: {self.text}"


@dataclass
class Judgement:
    """`counts` are of cases by state and what became of them."""

    findings: list[Finding] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)


def judge(ground: Ground, begin: float, end: float, now: float) -> Judgement:
    """All about one job."""
    cases = ground.cases(begin, end)
    judgement = Judgement(counts=Counter(f"{case.state} {became(case)}" for case in cases))
    for case in cases:
        judgement.findings += _each(ground, cases, case, now)
    judgement.findings += _floods(ground, cases)
    for pause in ground.pauses:
        judgement.findings += _after_pause(ground, [case for case in cases if case.pause is pause])
    judgement.findings += _overlapping(ground, begin)
    return judgement


def became(case: Case) -> str:
    """In one word what became of it."""
    if case.worked:
        return "ran"
    return case.runs[-1].verdict if case.runs else "no run"


def _each(ground: Ground, cases: list[Case], case: Case, now: float) -> Iterator[Finding]:
    name = ground.job.name
    if sum(run.status == "succeeded" for run in case.worked) > 1 or (len(case.worked) > 1 and not case.asked):
        yield Finding("doubled", name, case.at, f"{len(case.worked)} runs worked: {_story(case)}")
    if case.runs and case.runs[-1].closed is None and now - case.runs[-1].started > 150:
        yield Finding("unfinished", name, case.at, f"still going on: {_story(case)}")
    deadline = ground.job.deadline
    if case.worked and deadline and not case.asked and not _resumed(case):
        late = (case.worked[0].taken or 0) - case.at
        if late > deadline + TOLERANCE:
            yield Finding(
                "too_late", name, case.at, f"ran {late:.1f} s late with start_deadline {deadline} s: {_story(case)}"
            )
    if not case.worked and not excuses(ground, cases, case):
        yield Finding("lost", name, case.at, _lost(ground, case))


def _resumed(case: Case) -> bool:
    return case.pause is not None and case.pause.most > 0


def excuses(ground: Ground, cases: list[Case], case: Case) -> set[str]:
    """The reasons that really held for not running, each as the word for it."""
    if case.promised:  # whoever asks gets it, as long as the next one does not end it
        return {"overlap_skipped"} if case.runs and BY_POLICY in case.runs[-1].ended_by else set()
    found, job = set(_by_people(ground, case)), ground.job
    if case.let_go and not case.runs:
        found.add("missed")
    if job.deadline and _could_start(case) - case.at > job.deadline - 1:
        found.add("too_late")
    if _by_overlap(ground, case):
        found.add("overlap_skipped")
    if _still_waits(ground, case):
        found.add("buffered")
    if case.state in {State.AWAY, State.BETWEEN} and case.outage:
        if job.policy == "skip":
            found.add("skipped")
        elif sum(bool(each.worked) for each in cases if _took_over(case, each)) >= job.most:
            found.add("superseded")
    return found


def _by_people(ground: Ground, case: Case) -> Iterator[str]:
    """A pause also drops what waits for a run to end."""
    waited = (case.held or case.there) and case.paused_while_held and ground.job.overlap in WAITING and not case.runs
    if waited or case.state == State.PAUSED or (case.pause and case.state == State.BETWEEN):
        yield "paused"
    if not case.certain_due:
        yield "not_due_then"


def _could_start(case: Case) -> float:
    """When it could have begun to work at the earliest."""
    taken = [run.taken for run in case.runs if run.taken]
    away = (
        max((last for first, last in case.outage.sure if first <= case.at < last), default=case.at)
        if case.outage
        else case.at
    )
    return max([away, *taken])


def _took_over(case: Case, other: Case) -> bool:
    """A newer one of the same outage, though it came due as all came back and could still start on time."""
    return other.at > case.at and other.outage == case.outage


def _by_overlap(ground: Ground, case: Case) -> bool:
    overlap = ground.job.overlap
    if overlap in {"cancel_other", "terminate_other"}:  # a newer one ends or replaces it before it does anything
        ended = bool(case.runs) and case.runs[-1].verdict in {"cancelled", "terminated"}
        return ended or (overlap == "cancel_other" and not case.runs and case.replaced)
    if case.runs:
        return False
    if (
        overlap == "skip" and case.there and (case.outage or case.state == State.BETWEEN)
    ):  # too short an outage for a late run to decide
        return True
    return case.held and (overlap == "skip" or (overlap == "buffer_one" and case.queued))


def _still_waits(ground: Ground, case: Case) -> bool:
    """The soak ended while older ones of the queue were worked off."""
    newest = max(ground.runs, key=lambda run: run.started, default=None)
    if ground.job.overlap not in {"buffer_one", "buffer_all"} or newest is None or case.runs or not case.held:
        return False
    return newest.closed is None and (time_of(newest.id) or 0) < case.at


def _lost(ground: Ground, case: Case) -> str:
    outage = f"; outage {_span(case)}" if case.outage else ""
    held = "; a run was at work" if case.held else ""
    return f"{case.state}, did not run, policy {ground.job.policy}{held}{outage}: {_story(case)}"


def _span(case: Case) -> str:
    assert case.outage
    sure = ", ".join(f"{first - case.at:+.1f} to {last - case.at:+.1f}" for first, last in case.outage.sure)
    return f"{case.outage.start - case.at:+.1f} to {case.outage.end - case.at:+.1f} (certain: {sure})"


def _floods(ground: Ground, cases: list[Case]) -> Iterator[Finding]:
    """Others than the newest ran after an outage; what waited for a run at work was not missed."""
    job = ground.job
    missed = [case for case in cases if case.state == State.AWAY and not case.asked and not case.held]
    for _, group in groupby(missed, key=_sure_span):
        away = list(group)
        most = 0 if job.policy == "skip" else job.most
        ran = [case for case in away[: len(away) - most] if case.worked and not _is_hardly_late(ground, case)]
        if ran:
            text = f"ran, though policy {job.policy} wants {most} of {_clock(away)}; these ran: {_clock(ran)}"
            yield Finding("flood", job.name, ran[0].at, f"{text}; outage {_span(ran[0])}: {_story(ran[0])}")


def _is_hardly_late(ground: Ground, case: Case) -> bool:
    """Neither was it started late nor taken late: only both together, which proves nothing."""
    late_after, run = ground.version(case.at).late_after, case.worked[0]
    return run.started - case.at <= late_after and (run.taken or run.started) - run.started <= late_after


def _sure_span(case: Case) -> tuple[float, float] | None:
    return around(case.outage.sure, case.at) if case.outage else None


def _clock(cases: list[Case]) -> str:
    return ", ".join(stamp(case.at)[11:19] for case in cases)


def _after_pause(ground: Ground, cases: list[Case]) -> Iterator[Finding]:
    """The newest of a pause run if that was asked for, and no others."""
    if not cases or not (pause := cases[0].pause):
        return
    name, sure = ground.job.name, [case for case in cases if case.state == State.PAUSED]
    if not pause.resumed:
        yield Finding("unfinished", name, pause.sure_to, "the resume failed again and again")
        return
    ran = [case for case in sure if case.worked and not case.asked]
    wanted = min(pause.most, len(sure))
    newer = [case for case in cases if case.worked and (not sure or case.at >= sure[-wanted:][0].at)]
    cut = ", cut off once" if pause.interrupted else ""
    if len(ran) > pause.most:
        yield Finding("flood", name, ran[0].at, f"{len(ran)} of a pause ran, not {pause.most}{cut}: {_story(ran[0])}")
    if len(newer) < wanted:
        yield Finding("lost", name, sure[-1].at, f"{len(newer)} of a pause ran, not {wanted}, as resume was told{cut}")


def _overlapping(ground: Ground, begin: float) -> Iterator[Finding]:
    """Two at work at once where the policy lets one; what a schedule did not start, it does not know of."""
    if ground.job.overlap == "allow_all":
        return
    at_work = sorted((run for run in ground.runs if run.begun and run.started > begin), key=lambda run: run.begun or 0)
    for first, second in pairwise(at_work):
        if ground.v2 and abs(second.started - first.started) < RACE:
            continue
        if first.closed is None or (second.begun or 0) < first.closed - 0.5:
            text = f"at work beside {first.id} ({_moments(first)}): {_moments(second)}"
            yield Finding("overlapped", ground.job.name, time_of(second.id) or 0, text)


def _story(case: Case) -> str:
    return "; ".join(f"{run.run_id} {_moments(run, case.at)}" for run in case.runs) or "no run under its id"


def _moments(run: Run, since: float | None = None) -> str:
    base = since if since is not None else run.started
    named = (("started", run.started), ("taken", run.taken), ("begun", run.begun), ("closed", run.closed))
    marks = ", ".join(f"{name} {at - base:+.1f}" for name, at in named if at is not None)
    by = f" by {run.parent}" if run.parent else ""
    why = f": {run.reason}" if run.outcome in DECIDED else ""
    return f"{run.verdict}{by}, {marks}{why}"
