"""Occurrences at which the server was away, or let them go by itself, and what catching up made of them. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from itertools import islice
from typing import TYPE_CHECKING

from activities.account.case import Case, Reason
from activities.account.due_times import JUST_AFTER, between
from activities.account.facts import SLACK
from activities.late.decision import lateness
from activities.occurrence import stamp

if TYPE_CHECKING:
    from datetime import datetime


@dataclass(frozen=True, slots=True)
class Outage:
    """The server looked for what was due at `wake`, so long after the time of an occurrence; `gap` is the evidence.

    `certain` is False where it was silent, on a scheduler that keeps no record.
    """

    wake: datetime
    late: timedelta
    gap: str
    certain: bool = True

    @property
    def text(self) -> str:
        """`the server was away when it was due`."""
        return f"the server was {'' if self.certain else 'probably '}away when it was due"

    def reason(self, case: Case) -> Reason:
        """What became of the occurrence."""
        late, window = self.late, case.job.window
        if caught_up := self._caught_up(case):
            return caught_up
        if window is not None and late.total_seconds() > window:
            beyond = f"after the catch-up window of {lateness(timedelta(seconds=window))}"
            return self._missed(f"{self.text}, and came back {lateness(late)} later, {beyond}", *case.dropped)
        instead = next((run for run in case.runs if self.wake - SLACK <= run.started_at), None)
        if instead is None and case.now - self.wake <= case.slack:
            text = f"{self.text}, and came back at {stamp(self.wake)}; it may start at any moment"
            return Reason("due", text, (self.gap,), self.certain)
        if instead is None:
            return self._missed(f"{self.text}, and came back {lateness(late)} later")
        text = (
            f"{self.text}; when it was back, {lateness(late)} later, it started {instead.id} "
            f"and left out the others, because overlap is {case.job.overlap}"
        )
        evidence = (self.gap, f"{instead.id} was started at {stamp(instead.started_at)}")
        return Reason("overlap_skipped", text, evidence, self.certain)

    def _missed(self, text: str, *evidence: str) -> Reason:
        return Reason("missed", text, (self.gap, *evidence), self.certain)

    def _caught_up(self, case: Case) -> Reason | None:
        """The newest of what was missed are those that the policy wants: another of them has no run for another reason."""
        rule = case.job.catchup
        if rule is None:
            return None
        if rule.policy == "skip":
            return Reason("skipped", f"{self.text}, and catchup is skip", (self.gap,), self.certain)
        newer = [run for run in case.runs if run.scheduled_at > case.at and self.wake - SLACK <= run.started_at]
        missed = islice(between(case.job.occurrences, case.at, self.wake + JUST_AFTER), rule.max_missed + 1)
        if not newer or len(list(missed)) <= rule.max_missed:
            return None
        text = f"superseded: {self.text}, and the newest {rule.max_missed} of the missed run"
        evidence = (self.gap, f"{newer[0].id} was started at {stamp(newer[0].started_at)}")
        return Reason("superseded", text, evidence, self.certain)


def scheduler_away(case: Case) -> Reason | None:
    """The scheduler looks at each time that is due; where it did so much later, the server was away."""
    if case.at in case.quiet:
        return _after_silence(case)
    if not case.history or not case.history.has_signs(case.at):
        return None
    wake = case.history.wake_from(case.at)
    late = (wake or case.now) - case.at
    if late <= case.job.on_time:
        return None
    last = case.history.wake_before(case.at)
    gap = f"the scheduler checked what is due at {stamp(last) if last else 'no time before'}"
    gap += f" and next at {stamp(wake)}" if wake else ", and has not checked since"
    if wake is None:
        return Reason("due", "the server was away when it was due, and its scheduler is not back yet", (gap,))
    return Outage(wake, late, gap).reason(case)


def _after_silence(case: Case) -> Reason | None:
    """By the next start of the schedule, which may be a while after the server was back."""
    wake = next((run.started_at for run in case.runs if run.scheduled_by and run.started_at >= case.at), None)
    if wake is None:
        return None
    gap = f"no run of the namespace started or ended after {stamp(case.at)}, for as long as makes a start late"
    return Outage(wake, wake - case.at, gap, certain=False).reason(case)


def let_go_with_jitter(case: Case) -> Reason | None:
    """The V2 scheduler forgets a time whose jitter is not over yet when a run of the schedule ends (seen on 1.32.0)."""
    came = case.jittered.get(case.at)
    if came is None or not case.job.is_v2 or case.unknown_before:
        return None
    runs = (run for run in case.runs if run.scheduled_by and run.closed_at)
    ended = next((run for run in runs if run.closed_at and case.at <= run.closed_at < came), None)
    if ended is None or ended.closed_at is None:
        return None
    text = (
        f"the server let it go: with its jitter it was to start at {stamp(came)}, and {ended.id} ended at "
        f"{stamp(ended.closed_at)}; Temporal's V2 scheduler forgets a time that still waits for its jitter then"
    )
    return Reason("missed", text, (f"{ended.id} was started at {stamp(ended.started_at)}",), certain=False)
