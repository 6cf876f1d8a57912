"""The state of one job from one poll of the monitor to the next. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from activities.overlap import overlap_policy
from schedules.cron.occurrences import next_after, previous_before
from schedules.ledger.chains import chained
from schedules.ledger.overview import Close, Look, asks_for_more, dated, depends_on_overlap, look_at
from schedules.ledger.replaced import replaced
from schedules.ledger.state import JobState, state_of
from schedules.monitor.memory import Memory
from schedules.plan.listed import cut

if TYPE_CHECKING:
    from activities.account.facts import Run, Verdict
    from schedules.ledger.facts import Job
    from schedules.ledger.occurrences import Occurrence

SECOND = timedelta(seconds=1)
LONGEST = timedelta(minutes=10)
"""After so long the state of a job is worked out anew, whatever happens."""
DESCRIBE_AT_MOST_EVERY = timedelta(seconds=25)
"""Of one job, while it does not change."""
NEVER = datetime.min.replace(tzinfo=UTC)
PASSING: frozenset[Verdict] = frozenset({"due", "not_yet_due", "buffered"})
"""What is otherwise a little later."""


@dataclass
class MonitoredJob:
    """A job as the monitor has it: as listed, as described when that was needed, and its runs."""

    job: Job
    memory: Memory = field(default_factory=Memory)
    #: The job as Describe last showed it; None before that, and once List shows that it has changed since.
    described: Job | None = None
    #: What a description told of occurrences without a run, by scheduled time.
    explained: dict[datetime, Occurrence] = field(default_factory=dict)
    #: Since when it is paused, as far as that is known.
    paused_at: datetime | None = None
    #: Its occurrences and runs when its state was last worked out.
    look: Look | None = None
    state: JobState | None = None
    #: Whether an occurrence without a run, a pause or a queue calls for a description.
    needs_description: bool = False
    described_at: datetime = NEVER
    #: When its state is worked out anew, unless something happens before.
    again_at: datetime = NEVER

    @property
    def runs(self) -> list[Run]:
        """The runs that are kept, as they count: a workflow that the server has begun anew is one, and one that overlap ended has not failed."""
        return replaced(self.job, chained(self.job, self.memory.runs))

    def update(self, listed: Job, begin: datetime, now: datetime) -> None:
        """Works the state out anew if there is a reason to; occurrences are counted from `begin` on."""
        job = self._merged(listed)
        if not self.memory.changed and now < self.again_at and _still(job) == _still(self.job):
            self.job = job
            return
        self.job, self.memory.changed = job, False
        self.paused_at = self.paused_at if job.paused else None
        last = previous_before(job.times, now) if job.exact else None
        since = max(min(begin, last or begin), self.memory.whole_after + SECOND)
        self.look = look_at(dated(job), self.memory.runs, since, now)
        self._settle(self.look)
        self.again_at = self._again(now)

    def learn(self, close: Close, paused_at: datetime | None, now: datetime) -> None:
        """Takes over what Describe and the scheduler's history told."""
        self.described = close.job
        self.job = self._merged(replace(close.job, next_times=self.job.next_times, recent=self.job.recent))
        told = {each.scheduled_at: each for each in close.state.occurrences if each.run is None}
        passing = PASSING | ({"missed"} if self._may_yet_account() else set())
        self.explained = {at: each for at, each in told.items() if each.verdict not in passing}
        self.paused_at, self.state = paused_at, replace(close.state, paused_at=paused_at)
        self.needs_description, self.described_at = False, now

    def asks(self, now: datetime) -> bool:
        """Whether the job is to be described now: if that is needed, and at most so often unless it has changed."""
        return self.needs_description and (self.described is None or now - self.described_at >= DESCRIBE_AT_MOST_EVERY)

    def _may_yet_account(self) -> bool:
        """Whether a run goes on that may tell at its end what became of occurrences before it."""
        return any(run.closed_at is None for run in self.memory.runs)

    def _settle(self, look: Look) -> None:
        """The state by what is known without asking."""
        occurrences = [
            self.explained.get(each.scheduled_at, each) if each.run is None else each for each in look.occurrences
        ]
        earlier = [each for each in self.explained.values() if not each.expected and each.scheduled_at >= look.since]
        occurrences = sorted([*occurrences, *earlier], key=lambda each: each.scheduled_at)
        state = state_of(look.job, occurrences, look.runs, look.now, since=look.since)
        unexplained = any(asks_for_more(each) and not self.is_explained(each) for each in occurrences)
        self.needs_description = unexplained or self._asks(look, state)
        if unexplained:
            state = replace(state, missed=None, skipped=None)
        self.state = replace(state, paused_at=self.paused_at)

    def is_explained(self, each: Occurrence) -> bool:
        """Whether a closer look has told of it; a pause that goes on explains all that was due since it began."""
        held = self.paused_at is not None and each.verdict == "paused" and each.scheduled_at >= self.paused_at
        return held or each.scheduled_at in self.explained

    def _asks(self, look: Look, state: JobState) -> bool:
        """Whether Describe has to tell what List does not: since when it is paused, all its times, what waits, a limit."""
        if look.job.paused:
            return self.paused_at is None
        if self.described is None:
            return not look.job.exact or bool(state.running) or depends_on_overlap(state.occurrences, look.runs)
        return bool(state.running) and overlap_policy(look.job.overlap).buffers

    def _merged(self, listed: Job) -> Job:
        """The description, as long as List does not show that it is an old one, with what changes all the time from List."""
        known = self.described
        if known is None:
            return listed
        same = (known.paused, known.note, known.fingerprint) == (listed.paused, listed.note, listed.fingerprint)
        if not same or listed.times not in {known.times, cut(known.times)}:
            self.described, self.explained = None, {}
            return listed
        return replace(known, next_times=listed.next_times, recent=listed.recent)

    def _again(self, now: datetime) -> datetime:
        """When the next start is late, unless something happens before."""
        slack = self.job.patience + SECOND
        following = next_after(self.job.times, now - slack)
        return min(following + slack if following else now + LONGEST, now + LONGEST)


def _still(job: Job) -> Job:
    """Without what changes although nobody changes the job."""
    return replace(job, next_times=(), recent=())
