"""Alert rules about what the others depend on: the monitor of a project, and the workers of its task queues. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedules.monitor.alert_rule import Rule, plain, quoted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from schedules.spec.job import JobSpec
    from schedules.spec.project import Project

MONITOR_SILENT = 5 * 60
"""Seconds."""
FAILED_TASKS = 5
"""So many in an hour are more than one worker that was just replaced; the server waits up to ten minutes between two."""


def around_rules(project: Project) -> Iterator[tuple[Rule, dict[str, str]]]:
    """Each with its labels besides the owner.

    Other projects may have a monitor, and other namespaces workers in a task queue of the same name: neither is a sign of life
    here. In which namespace the project is, its monitor tells; without a monitor only that is told.
    """
    last = f"tickwright_monitor_owner_last_look_timestamp_seconds{{owner={quoted(project.owner)}}}"
    expr = f"time() - max({last}) > {MONITOR_SILENT} or absent({last})"
    summary = f"no monitor has seen the jobs of {plain(project.owner)} of late: nobody would be told of them"
    yield Rule("MonitorGone", expr, "page", summary, "1m"), {}
    for queue in sorted(set(filter(None, _queues(project.jobs)))):
        workers = f"tickwright_worker_info{{task_queue={quoted(queue)}}}"
        expr = f"group by (namespace) ({last}) unless on (namespace) {workers}"
        summary = f"no worker polls task queue {plain(queue)} of namespace {{{{ $labels.namespace }}}}"
        yield Rule("WorkersGone", expr, "page", summary, "5m"), {"task_queue": plain(queue)}
        failed = f"increase(temporal_workflow_task_execution_failed_total{{task_queue={quoted(queue)}}}[1h])"
        expr = f"sum by (namespace, workflow_type) ({failed}) > {FAILED_TASKS}"
        summary = f"workflow tasks of {{{{ $labels.workflow_type }}}} in task queue {plain(queue)} fail: some run does not get on"
        yield Rule("WorkflowTasksFail", expr, "page", summary), {"task_queue": plain(queue)}


def _queues(jobs: Iterable[JobSpec]) -> Iterator[str | None]:
    """Those of our own workers: whatever runs a workflow that the schedule starts itself may export nothing of ours."""
    for job in jobs:
        if not job.direct:
            yield from (job.task_queue, *(step.task_queue for step in job.steps))
        yield job.on_missed.task_queue if job.on_missed and job.on_missed.channels else None
