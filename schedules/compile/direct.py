"""From a job whose workflow is started directly to its schedule. Pure."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC
from typing import TYPE_CHECKING

from schedules.cron.notation.literal import parse_literal
from schedules.model import Action, DesiredSchedule, Policies, Retry

if TYPE_CHECKING:
    from datetime import datetime, timedelta

    from schedules.model import Times
    from schedules.spec.direct import DirectRetrySpec, DirectSpec
    from schedules.spec.job import JobSpec
    from schedules.spec.kinds.workflow import WorkflowSpec
    from schedules.times.job import JobTimes


def compile_direct(
    job: JobSpec, owner: str, compiled: JobTimes, workflow: WorkflowSpec, direct: DirectSpec
) -> DesiredSchedule:
    """The schedule in the words of `direct`; arguments go to the workflow as they stand, without templates."""
    return DesiredSchedule(
        id=job.name,
        owner=owner,
        times=_times(compiled.times, direct),
        action=_action(job, workflow, direct),
        policies=Policies(job.overlap, _seconds(direct.catchup_window), direct.pause_on_failure),
        paused=job.paused,
        exact_until=compiled.exact_until,
        left_out=compiled.left_out,
    )


def _times(times: Times, direct: DirectSpec) -> Times:
    return replace(
        times,
        exclusions=(*times.exclusions, *map(parse_literal, direct.exclude)),
        start_at=_utc(direct.start_at) or times.start_at,
        end_at=_utc(direct.end_at) or times.end_at,
    )


def _action(job: JobSpec, workflow: WorkflowSpec, direct: DirectSpec) -> Action:
    return Action(
        workflow_type=workflow.type,
        task_queue=job.task_queue,
        args=workflow.args,
        search_attributes=direct.search_attributes,
        memo=direct.memo,
        summary=direct.summary,
        details=direct.details,
        execution_timeout=_seconds(direct.execution_timeout),
        run_timeout=_seconds(direct.run_timeout),
        task_timeout=_seconds(direct.task_timeout),
        retry=_retry(direct.retry) if direct.retry else None,
        workflow_id="" if direct.id == job.name else direct.id or "",
    )


def _retry(retry: DirectRetrySpec) -> Retry:
    return Retry(retry.max_attempts, retry.initial_ms, retry.coefficient, retry.max_ms, retry.non_retryable)


def _seconds(duration: timedelta | None) -> int:
    return int(duration.total_seconds()) if duration else 0


def _utc(at: datetime | None) -> datetime | None:
    return at.astimezone(UTC) if at else None
