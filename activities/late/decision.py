"""The verdict on a run that started late: whether it still runs, and which occurrences run in its stead. Pure.

It runs unless it is proven to be missed: that the server or every worker was away at its time. Of all that was due since, up to the
moment at which they were back, the newest few run. Lateness without that proof is bounded by `start_deadline` alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from activities.contract import LateVerdict, NotRun
from activities.occurrence import occurrence_id, stamp
from activities.overlap import overlap_policy

if TYPE_CHECKING:
    from collections.abc import Iterable

    from activities.account.due_times import Occurrences
    from activities.contract import CatchUpRequest, LateStart, Outcome

SECOND = timedelta(seconds=1)
JUST_AFTER = timedelta(microseconds=1)


@dataclass(frozen=True)
class Evidence:
    """Facts that bear on the verdict; by default nothing is proven, and the run runs.

    `by_hand`: somebody asked for this very run, or that cannot be excluded. `back`: what was away at the run's time, the server or
    every worker, and kept it from starting, was back then; None where nothing proves that anything was away, or the run only
    waited for the one before it. `resumed`: when the schedule started its first run after that, if not with this one.
    """

    by_hand: bool = False
    back: datetime | None = None
    resumed: datetime | None = None


RUN = LateVerdict(run=True)


def decide(late: LateStart, occurrences: Occurrences, evidence: Evidence) -> LateVerdict:
    """The verdict on a run that started more than `late_after` after its time; `occurrences` are the times that were due."""
    return _Decision(late, occurrences, evidence).verdict()


class _Decision:
    def __init__(self, late: LateStart, occurrences: Occurrences, evidence: Evidence) -> None:
        self._late, self._rule, self._occurrences, self._evidence = late, late.catchup, occurrences, evidence
        self._scheduled, self._now = instant(late.scheduled_at), instant(late.first_task_at)
        self._decided = instant(late.caught_up_to) if late.caught_up_to else None
        self._reference = reference(late, evidence)

    def verdict(self) -> LateVerdict:
        if self._evidence.by_hand:
            return RUN
        if self._evidence.back is None or self._wanted():
            return self._too_late([]) if self._is_too_late(self._scheduled) else RUN
        return self._stand_back()

    def _wanted(self) -> bool:
        """Whether it is among the newest; what an earlier late run has decided about is not weighed anew."""
        if self._is_decided(self._scheduled):
            return False
        return self._rule.policy != "skip" and len(self._newest()) < self._rule.max_missed

    def _is_decided(self, at: datetime) -> bool:
        return self._decided is not None and at <= self._decided

    def _newest(self) -> list[datetime]:
        """The missed occurrences after this run's that are to run, oldest first, whether or not they have been decided before."""
        found: list[datetime] = []
        before = self._reference + JUST_AFTER
        while len(found) < self._rule.max_missed and (at := self._occurrences.previous_before(before)):
            if at <= self._scheduled:
                break
            found.append(at)
            before = at
        if self._rule.policy == "skip":  # what is hardly late has not been missed
            on_time = timedelta(seconds=self._rule.late_after)
            found = [at for at in found[:1] if self._reference - at <= on_time]
        return found[::-1]

    def _stand_back(self) -> LateVerdict:
        """The newest others run one after another in this run's stead; with `allow_all` each has a run of its own.

        Under `buffer_all` the server itself starts what came due since an earlier late run decided.
        """
        rule = self._rule
        alone = rule.overlap == "allow_all" or (rule.overlap == "buffer_all" and self._is_decided(self._scheduled))
        others = [] if alone else [at for at in self._newest() if not self._is_decided(at)]
        live = [at for at in others if not self._is_too_late(at)]
        if others and not live:
            return self._too_late(others)
        outcome: Outcome = "skipped" if rule.policy == "skip" else "superseded"
        return self._verdict(outcome, self._reason(live), live, [] if alone else self._due())

    def _too_late(self, others: list[datetime]) -> LateVerdict:
        reason = too_late(self._now - self._scheduled, self._rule)
        return self._verdict("too_late", reason, [], self._due() if others else [])

    def _verdict(self, outcome: Outcome, reason: str, live: list[datetime], due: list[datetime]) -> LateVerdict:
        """`due` are the first and the last occurrence after this one that this run decides about; none if it decides for itself."""
        if not due:
            return LateVerdict(run=False, outcome=outcome, reason=reason)
        first, last = due
        count = self._occurrences.count_between(first, last + SECOND) - len(live)
        not_run = None
        if count:
            dropped = self._occurrences.previous_before(live[0]) if live else last
            not_run = NotRun(count, stamp(first), stamp(dropped or last), reason)
        return LateVerdict(
            run=False,
            outcome=outcome,
            reason=reason,
            instead=[stamp(at) for at in live],
            not_run=not_run,
            caught_up_to=stamp(last),
        )

    def _due(self) -> list[datetime]:
        """The first and the last occurrence that are due and not decided yet, this run's own apart; empty for none."""
        after = max(self._scheduled, self._decided) if self._decided else self._scheduled
        first = self._occurrences.next_after(after)
        last = self._occurrences.previous_before(self._reference + JUST_AFTER)
        return [first, last] if first and last and first <= last else []

    def _is_too_late(self, at: datetime) -> bool:
        return is_too_late(self._now - at, self._rule)

    def _reason(self, live: list[datetime]) -> str:
        if self._rule.policy == "skip":
            return f"{lateness(self._now - self._scheduled)} late: the policy of catchup is skip"
        by = live[0] if live else self._newer()
        more = f" and {len(live) - 1} more" if len(live) > 1 else ""
        return f"superseded by {occurrence_id(self._late.job, by)}{more}" if by else "superseded"

    def _newer(self) -> datetime | None:
        """What took this run's place already."""
        return next(iter(self._newest()), self._decided)


def settled_before(
    late: LateStart, times: Iterable[datetime | None], ends: Iterable[datetime | None]
) -> datetime | None:
    """Up to when it is clear, for each time before this run's, that the schedule has started it or left it to overlap.

    `times` are those with a run of their own; `ends` when those runs ended, None for one that goes on.
    """
    scheduled = instant(late.scheduled_at)
    found = [at for at in times if at and at < scheduled]
    if overlap_policy(late.catchup.overlap).holds_back:
        found += [min(end or scheduled, scheduled) for end in ends]
    return max(found, default=None)


def dropped(late: LateStart, occurrences: Occurrences, before: datetime | None) -> NotRun | None:
    """Those after `before` and up to this one: the server has let them go."""
    scheduled = instant(late.scheduled_at)
    first = occurrences.next_after(before) if before else None
    last = occurrences.previous_before(scheduled)
    if first is None or last is None or first > last or occurrences.next_after(last) != scheduled:
        return None
    skip = late.catchup.policy == "skip"
    reason = (
        "the policy of catchup is skip"
        if skip
        else f"superseded: the newest {late.catchup.max_missed} of the missed run"
    )
    return NotRun(occurrences.count_between(first, scheduled), stamp(first), stamp(last), reason)


def reference(late: LateStart, evidence: Evidence) -> datetime:
    """The moment from which on runs start on time again: the first workflow task if the run waited for a worker.

    Else it is the return of the server where newer ones start by themselves, and where they do not the schedule's first start after
    that, which stands for all that were due by then. What came due later was left to overlap.
    """
    started, now = instant(late.started_at), instant(late.first_task_at)
    if waited_for_worker(late):
        found = now
    elif overlap_policy(late.catchup.overlap).keeps_all:
        found = evidence.back or started
    else:
        found = evidence.resumed or started
    return min(found, instant(late.catchup.end_at)) if late.catchup.end_at else found


def waited_for_worker(late: LateStart) -> bool:
    """Whether the first workflow task came long after the start."""
    return instant(late.first_task_at) - instant(late.started_at) > timedelta(seconds=late.catchup.late_after)


def started_late(late: LateStart) -> bool:
    """Whether the schedule started it late, and not only its first workflow task came late."""
    return not late.in_turn and instant(late.started_at) - instant(late.scheduled_at) > timedelta(
        seconds=late.catchup.late_after
    )


def is_too_late(by: timedelta, rule: CatchUpRequest) -> bool:
    """Whether an occurrence that would start so long after its time must not run any more."""
    return rule.start_deadline is not None and by.total_seconds() > rule.start_deadline


def too_late(by: timedelta, rule: CatchUpRequest) -> str:
    """`too late by 3h 12m: start_deadline is 2h`."""
    return f"too late by {lateness(by)}: start_deadline is {lateness(timedelta(seconds=rule.start_deadline or 0))}"


def lateness(by: timedelta) -> str:
    """The two largest units: `3h 12m`, `45s`."""
    seconds = int(by.total_seconds())
    parts = [(seconds // 86_400, "d"), (seconds // 3_600 % 24, "h"), (seconds // 60 % 60, "m"), (seconds % 60, "s")]
    first = next((place for place, (count, _) in enumerate(parts) if count), len(parts) - 1)
    return " ".join(f"{count}{unit}" for count, unit in parts[first : first + 2] if count) or "0s"


def instant(text: str) -> datetime:
    """The aware time that RFC 3339 text names."""
    return datetime.fromisoformat(text)
