"""What a question is about: jobs of spec files, of an owner, or all, narrowed by name and label; or one occurrence of a job."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from activities.account.facts import TROUBLE
from schedules.errors import SettingsError
from schedules.text.nearest import suggestion
from schedules.times.moment import Moment, parse_moment

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from activities.account.facts import Run, Verdict
    from schedules.ledger.facts import Job
    from schedules.ledger.port import JobRecords
    from schedules.ledger.records import Records
    from schedules.model import Times
    from schedules.spec.job import JobSpec
    from schedules.spec.project import Project

GLOB = frozenset("*?[")
LAST_FAILED = "last-failed"
LONG_AGO, AHEAD = timedelta(days=3660), timedelta(days=1)
LOOKED_AT, FAILURES_LOOKED_AT = 20, 500
SPARED: frozenset[Verdict] = frozenset(
    {"paused", "before_creation", "not_due_then", "overlap_skipped", "used_up", "not_yet_due"}
)
"""What did not have to run."""


@dataclass(frozen=True)
class Selection:
    """`times` are those that the spec files compile to; None without files. `owner` None stands for every one."""

    owner: str | None
    glob: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    jobs: Mapping[str, JobSpec] | None = None
    times: Mapping[str, Times] = field(default_factory=dict)
    project: Project | None = None

    def takes(self, name: str) -> bool:
        """Whether a job is meant."""
        if self.jobs is not None:
            job = self.jobs.get(name)
            if job is None or not self.labels.items() <= dict(job.labels).items():
                return False
        return not self.glob or fnmatchcase(name, self.glob)

    @property
    def whole(self) -> bool:
        """Whether all jobs of the owner are meant."""
        return not self.glob and not self.labels


def check_found(meant: Selection, listed: Sequence[Job], all_jobs: Sequence[Job]) -> None:
    """Raises SettingsError for a selection that means nothing; `listed` are the owner's jobs, `all_jobs` those of all owners."""
    if hint := _nothing_found(meant, listed, all_jobs):
        raise SettingsError(hint)


def _nothing_found(meant: Selection, listed: Sequence[Job], all_jobs: Sequence[Job]) -> str:
    """The reason for which a selection means no job, with near names; empty where it means one, or all of a namespace without any."""
    names = sorted({*(job.name for job in listed), *(meant.jobs or {})})
    if any(meant.takes(name) for name in names):
        return ""
    if meant.owner and meant.jobs is None and not names:
        return f"--owner {meant.owner}: {suggestion(meant.owner, sorted({job.owner for job in all_jobs}), 'owners')}"
    if meant.glob and not GLOB.isdisjoint(meant.glob):
        return f"--job '{meant.glob}': no job has such a name; {suggestion('', names, 'jobs')}"
    if meant.glob and meant.glob not in names:
        return f"--job {meant.glob}: {suggestion(meant.glob, names, 'jobs')}"
    return "--label: no job of the files has these labels" if meant.labels else ""


async def the_job(records: JobRecords, name: str) -> Job:
    """The job of that name. Raises SettingsError with near names where there is none."""
    from schedules.text.nearest import suggestion

    job = await records.job(name)
    if job is None:
        names = sorted(job.name for job in await records.jobs(None))
        raise SettingsError(f"there is no job `{name}` in the namespace; {suggestion(name, names, 'jobs')}")
    return job


async def job_or_its_past(records: Records, name: str, now: datetime) -> Job:
    """The job, also one that was deleted and of which runs are kept, which is said. Raises SettingsError as `the_job`."""
    from schedules.console.terminal import say
    from schedules.ledger.deleted import deleted_job

    job = await records.job(name)
    if job is not None:
        return job
    gone = await deleted_job(records, name, now)
    if gone is None:
        return await the_job(records, name)
    say(f"the schedule of `{name}` has been deleted; this comes from the runs that the namespace keeps")
    return gone


async def asked_for(records: JobRecords, job: Job, text: str, now: datetime) -> Moment:
    """The time that is meant: without one, the last at which the job had to run, or the first of a new one. Raises SettingsError."""
    if text.strip() == LAST_FAILED:
        return Moment((await _last_failed(records, job, now),))
    return moment_of(job, text, now) if text.strip() else Moment((await _last(records, job, now),))


def moment_of(job: Job, text: str, now: datetime) -> Moment:
    """The time, which may be the end of an occurrence's id. Raises SettingsError."""
    return parse_moment(text.strip().removeprefix(job.prefix), job.times.timezone, now)


async def _last_failed(records: JobRecords, job: Job, now: datetime) -> datetime:
    found = await records.runs_of(job, now - LONG_AGO, now + AHEAD, FAILURES_LOOKED_AT)
    ended = await records.with_results(_newest_first(found.runs))
    if failed := next((run for run in ended if run.verdict in TROUBLE), None):
        return failed.scheduled_at
    kept = f"the last {len(found.runs):,} runs" if not found.complete else "the runs that are kept"
    raise SettingsError(f"{LAST_FAILED}: no run of `{job.name}` has failed, of {kept}")


async def _last(records: JobRecords, job: Job, now: datetime) -> datetime:
    from schedules.ledger.account import account, last_times

    newest = _newest_first((await records.runs_of(job, now - LONG_AGO, now + AHEAD, LOOKED_AT)).runs)
    known = [run.scheduled_at for run in newest[:1]]
    if times := last_times(job, LOOKED_AT, now):
        found = await account(records, job, times[-1], now, now)
        known += [each.scheduled_at for each in found.occurrences if each.verdict not in SPARED]
    is_new = job.created_at is not None and all(at < job.created_at for at in times)
    if not known and is_new and (first := job.occurrences.next_after(now)):
        return first
    if not (known or times):
        raise SettingsError(f"`{job.name}` has had no time to run yet; write one, as in `explain {job.name} 02:00`")
    return max(known, default=times[0] if times else now)


def _newest_first(runs: list[Run]) -> list[Run]:
    return sorted(runs, key=lambda run: (run.scheduled_at, run.started_at), reverse=True)
