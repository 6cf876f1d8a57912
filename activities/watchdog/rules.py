"""The rule by which people are told of a missed run: once, until the job runs again. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from activities.occurrence import stamp
from activities.watchdog.contract import Missed, WatchState

if TYPE_CHECKING:
    from activities.watchdog.contract import Finding, WatchdogRequest, WatchedJob


def begins_with(now: datetime) -> WatchState:
    """The state before the first look: nothing is known to be missing, and nothing before is looked at."""
    return WatchState(stamp(now), stamp(now))


def is_after_outage(request: WatchdogRequest, state: WatchState, now: datetime) -> bool:
    """Whether no look was possible for so long that late runs are only now being started; the next one tells."""
    gap = (now - datetime.fromisoformat(state.asked_at)).total_seconds()
    return gap > min((job.grace for job in request.jobs), default=gap)


def latest_to_ask(job: WatchedJob, now: datetime) -> datetime:
    """A run scheduled for up to this time must have begun by now."""
    return now - timedelta(seconds=job.grace)


def is_to_be_asked(job: WatchedJob, newest: datetime | None, state: WatchState) -> bool:
    """Whether there is something to find out: a time since the last look, or one that is missing."""
    return job.job in state.missing or is_new(job, newest, state)


def is_new(job: WatchedJob, newest: datetime | None, state: WatchState) -> bool:
    """Whether a time has come that no look has asked about."""
    return newest is not None and newest > latest_to_ask(job, datetime.fromisoformat(state.looked_at))


@dataclass
class Tally:
    """Takes what was found of each job that was asked about."""

    state: WatchState
    now: datetime
    missed: list[Missed] = field(default_factory=list)

    def take(self, job: WatchedJob, at: datetime, finding: Finding | None) -> None:
        """`finding` is None for a job that runs. One that was paused at its time and has been resumed missed nothing."""
        missing, told, paused = dict(self.state.missing), set(self.state.told), set(self.state.paused)
        if finding and finding.kind != "paused" and job.job in paused and not is_new(job, at, self.state):
            finding = None
        paused.discard(job.job)
        if finding is None:
            missing.pop(job.job, None)
            told.discard(job.job)
        else:
            first = datetime.fromisoformat(missing.setdefault(job.job, stamp(at)))
            paused |= {job.job} if finding.kind == "paused" else set()
            is_patient = finding.kind == "paused" and (self.now - first).total_seconds() < job.paused_for
            if job.job not in told and finding.kind != "begun" and not is_patient:
                told.add(job.job)
                self.missed.append(Missed(job.job, missing[job.job], finding.reason))
        self.state = replace(self.state, missing=missing, told=sorted(told), paused=sorted(paused))

    def done(self, request: WatchdogRequest) -> WatchState:
        """The state for the next look; jobs that are watched no more are forgotten."""
        names, text = {job.job for job in request.jobs}, stamp(self.now)
        known = {name: first for name, first in self.state.missing.items() if name in names}
        told, paused = ([name for name in each if name in names] for each in (self.state.told, self.state.paused))
        return WatchState(text, text, known, told, paused)
