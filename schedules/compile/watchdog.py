"""The watchdogs of a project: schedules that look whether jobs with `on_missed` run. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING

from activities.contract import OWNER_ATTRIBUTE
from activities.notices.contract import WATCHDOG_WORKFLOW, Target
from activities.watchdog.contract import WatchdogRequest, WatchedJob
from schedules.compile.notices import targets
from schedules.model import Action, DesiredSchedule, Interval, Policies, Times
from schedules.text.as_json import as_json
from schedules.times import wire

if TYPE_CHECKING:
    from schedules.spec.job import JobSpec
    from schedules.spec.project import Project

MOST_JOBS = 200
"""Of one watchdog: their times are its arguments, and the server takes 2 MiB."""
SHORTEST, LONGEST = 2, 300
"""Seconds between two looks."""
PREFIX = "tickwright-watchdog-"
LONGEST_ID = 232
"""Characters: with `temporal-sys-scheduler:` before it, it is 255, as much as databases of self-hosted servers hold."""
LOOKS_PER_GRACE = 3
CATCHUP_WINDOW = 60


def compile_watchdogs(project: Project, times: Mapping[str, Times]) -> Iterator[DesiredSchedule]:
    """One for each task queue that jobs are watched from, more where there are many jobs; none without such jobs."""
    by_queue: dict[str, list[JobSpec]] = {}
    queues = own_queues(project.jobs)
    usual = next(iter(queues), "")
    for job in watched_jobs(project.jobs):
        by_queue.setdefault(watching_queue(job, queues), []).append(job)
    for queue, jobs in by_queue.items():
        own_queue = "" if queue == usual else queue
        for number, begin in enumerate(range(0, len(jobs), MOST_JOBS), 1):
            part = jobs[begin : begin + MOST_JOBS]
            yield _watchdog(project, watchdog_id(project.owner, number, own_queue), queue, part, times)


def watchdog_id(owner: str, number: int = 1, queue: str = "") -> str:
    """A schedule id that no other watchdog has: names have no `/`, and the queue, which may have one, comes last."""
    parts = [owner, str(number), queue] if queue else [owner, str(number)] if number > 1 else [owner]
    whole = PREFIX + "/".join(parts)
    return whole if len(whole) <= LONGEST_ID else f"{PREFIX}~{sha256(whole.encode()).hexdigest()}"


def watched_jobs(jobs: Iterable[JobSpec]) -> Iterator[JobSpec]:
    """The jobs that a watchdog looks after."""
    return (job for job in jobs if job.on_missed and job.on_missed.channels and job.mode == "live")


def own_queues(jobs: Iterable[JobSpec]) -> list[str]:
    """The task queues with workers of ours, that of most jobs first; a workflow that is started directly may have others."""
    ours = [job.task_queue for job in jobs if not job.direct]
    return [queue for queue, _ in Counter(ours).most_common()]


def watching_queue(job: JobSpec, queues: Sequence[str]) -> str:
    """The task queue that the job is watched from: another than its own if there is one.

    Whoever looks from the job's own queue sees nothing when its workers are away.
    """
    if job.on_missed and job.on_missed.task_queue:
        return job.on_missed.task_queue
    return next((queue for queue in queues if queue != job.task_queue), job.task_queue)


def _watchdog(
    project: Project, name: str, queue: str, jobs: Sequence[JobSpec], times: Mapping[str, Times]
) -> DesiredSchedule:
    request = _request(project, jobs, times)
    every = int(min(job.grace for job in request.jobs) // LOOKS_PER_GRACE)
    return DesiredSchedule(
        id=name,
        owner=project.owner,
        times=Times("UTC", intervals=(Interval(min(max(every, SHORTEST), LONGEST)),)),
        action=Action(
            workflow_type=WATCHDOG_WORKFLOW,
            task_queue=queue,
            args=(as_json(request),),
            search_attributes={OWNER_ATTRIBUTE: project.owner},
            summary=f"looks whether {len(jobs)} job{'' if len(jobs) == 1 else 's'} of {project.owner} ran (on_missed)",
        ),
        policies=Policies("skip", CATCHUP_WINDOW),
    )


def _request(project: Project, jobs: Sequence[JobSpec], times: Mapping[str, Times]) -> WatchdogRequest:
    known: list[Target] = []
    watched = [_watched(project, job, times[job.name], known) for job in jobs]
    return WatchdogRequest(project.name, project.environment, known, watched)


def _watched(project: Project, job: JobSpec, times: Times, known: list[Target]) -> WatchedJob:
    """Targets that are not known yet are added to them."""
    if job.on_missed is None:
        raise ValueError(f"{job.name} has no on_missed")
    wanted = targets(job.on_missed.channels, project.channels_of(job.name))
    known += [target for target in wanted if target not in known]
    return WatchedJob(
        job=job.name,
        times=wire.to_request(times),
        grace=job.on_missed.grace.total_seconds() + times.jitter,
        paused_for=job.on_missed.paused_for.total_seconds(),
        targets=[known.index(target) for target in wanted],
        contact=job.contact,
        runbook=job.runbook,
        jitter=float(times.jitter) if times.jitter else None,
    )
