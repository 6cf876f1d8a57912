"""Whether a run that started late still runs, and which occurrences run in its stead. Pure.

What is missed is known from the schedule's times alone: all that was due between the late run and `reference`, the moment
from which on runs start on time again. Of these the newest few are wanted. What the server has to tell is only why
this run is late.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Protocol

from activities.contract import LateVerdict, NotRun
from activities.occurrence import occurrence_id, stamp
from activities.overlap import overlap_policy

if TYPE_CHECKING:
    from activities.contract import CatchUpRequest, LateStart, Outcome

SECOND = timedelta(seconds=1)


class Occurrences(Protocol):
    """A schedule's times, as aware datetimes in UTC."""

    def next_after(self, after: datetime) -> datetime | None:
        """The first time strictly after an instant."""

    def previous_before(self, before: datetime) -> datetime | None:
        """The last time strictly before an instant."""

    def count_between(self, start: datetime, end: datetime) -> int:
        """How many times there are from start up to, and not including, end."""


@dataclass(frozen=True)
class Evidence:
    """What the server has to tell of a late start; all as by default where it could not be asked.

    `by_hand`: somebody asked for this very run, by a backfill or a reset. `waited`: it is late only because it waited for
    the run before it. `halted`: nothing is due by itself now, since the schedule is paused or has no actions left.
    `server_back`: when the server, away at its time, took up the schedule again, however long the run then waited for others.
    It counts where the others start by themselves, under `buffer_all`; a slot of `buffer_one` is for the newest. `native`: the
    schedule kept this run waiting and started it by itself, also where its time is none of the schedule's any more.
    """

    by_hand: bool = False
    waited: bool = False
    halted: bool = False
    server_back: datetime | None = None
    native: bool = False


UNKNOWN_YET = Evidence(native=True)
"""The strictest: what runs all the same needs no question to the server."""
RUN = LateVerdict(run=True)


def decide(late: LateStart, occurrences: Occurrences, evidence: Evidence) -> LateVerdict:
    """The verdict on a run that started more than `late_after` after its time."""
    return _Decision(late, occurrences, evidence).verdict()


class _Decision:
    def __init__(self, late: LateStart, occurrences: Occurrences, evidence: Evidence) -> None:
        self._late, self._rule, self._occurrences, self._evidence = late, late.catchup, occurrences, evidence
        self._scheduled, self._now = instant(late.scheduled_at), instant(late.first_task_at)
        self._decided = instant(late.caught_up_to) if late.caught_up_to else None
        self._reference = reference(late, evidence)

    def verdict(self) -> LateVerdict:
        if self._evidence.by_hand or not (self._evidence.native or self._is_occurrence()):
            return RUN
        if self._wanted():
            return self._too_late([]) if self._is_too_late(self._scheduled) else RUN
        return self._stand_back()

    def _is_occurrence(self) -> bool:
        return self._occurrences.next_after(self._scheduled - SECOND) == self._scheduled

    def _wanted(self) -> bool:
        if self._is_decided(self._scheduled):
            return False
        if self._evidence.waited and overlap_policy(self._rule.overlap).waits:
            return True
        return self._scheduled in self._newest()

    def _is_decided(self, at: datetime) -> bool:
        return self._decided is not None and at <= self._decided

    def _newest(self) -> list[datetime]:
        """Those of the missed occurrences that are to run, oldest first, whether or not they have been decided before."""
        if self._evidence.halted:
            return [] if self._rule.policy == "skip" else [self._scheduled]
        found: list[datetime] = []
        before = self._reference + timedelta(microseconds=1)
        while len(found) < self._rule.max_missed and (at := self._occurrences.previous_before(before)):
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
        others = [] if alone else [at for at in self._newest() if at > self._scheduled and not self._is_decided(at)]
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
        last = self._occurrences.previous_before(self._reference + timedelta(microseconds=1))
        return [first, last] if first and last and first <= last and not self._evidence.halted else []

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
        if self._is_decided(self._scheduled):
            return self._decided
        return next(iter(self._newest()), None)


def dropped(late: LateStart, occurrences: Occurrences, before: datetime | None) -> NotRun | None:
    """Those between the newest that was started `before` and this one: the server has let them go."""
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
    """When what was away was back: the start if the server was, the first workflow task if the run then waited for a worker."""
    started, now = instant(late.started_at), instant(late.first_task_at)
    waited_for_worker = now - started > timedelta(seconds=late.catchup.late_after)
    back = evidence.server_back if late.catchup.overlap == "buffer_all" else None
    found = now if waited_for_worker else back or started
    return min(found, instant(late.catchup.end_at)) if late.catchup.end_at else found


def started_late(late: LateStart) -> bool:
    """Whether already the start was late, not only the first workflow task."""
    return instant(late.started_at) - instant(late.scheduled_at) > timedelta(seconds=late.catchup.late_after)


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
