"""From Temporal's messages to a job's facts and its runs."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from temporalio.api.enums.v1 import WorkflowExecutionStatus
from temporalio.converter import PayloadConverter, value_to_type

from activities.account.facts import Run, Status
from activities.conflict_token import is_v2
from activities.contract import ASKED_MEMO, BUILD_MEMO, JOB_WORKFLOW, OUTCOME_ATTRIBUTE, JobRequest
from activities.note import MOVING
from activities.occurrence import scheduled_time
from schedules.cron.reboot import without_mark
from schedules.ledger.facts import Job
from schedules.plan.listed import LISTED_ENTRIES
from schedules.server.translate_info import from_listing, from_search_attributes
from schedules.server.translate_times import from_spec

if TYPE_CHECKING:
    from google.protobuf.timestamp_pb2 import Timestamp
    from temporalio.api.schedule.v1 import ScheduleListEntry
    from temporalio.api.workflow.v1 import WorkflowExecutionInfo

    from activities.account.record import SchedulerRecord
    from schedules.model import Action, ObservedSchedule, Times

SCHEDULED_BY = "TemporalScheduledById"
PROBLEMS = "TemporalReportedProblems"
RUNNING = WorkflowExecutionStatus.WORKFLOW_EXECUTION_STATUS_RUNNING
STATUSES: dict[int, Status] = {
    WorkflowExecutionStatus.WORKFLOW_EXECUTION_STATUS_RUNNING: "running",
    WorkflowExecutionStatus.WORKFLOW_EXECUTION_STATUS_COMPLETED: "completed",
    WorkflowExecutionStatus.WORKFLOW_EXECUTION_STATUS_FAILED: "failed",
    WorkflowExecutionStatus.WORKFLOW_EXECUTION_STATUS_CANCELED: "cancelled",
    WorkflowExecutionStatus.WORKFLOW_EXECUTION_STATUS_TERMINATED: "terminated",
    WorkflowExecutionStatus.WORKFLOW_EXECUTION_STATUS_TIMED_OUT: "timed_out",
    WorkflowExecutionStatus.WORKFLOW_EXECUTION_STATUS_CONTINUED_AS_NEW: "continued",
}


def run_from(message: WorkflowExecutionInfo) -> Run | None:
    """A run as List shows it; None for a workflow that is no occurrence, as its id tells."""
    attributes = from_search_attributes(message.search_attributes)
    scheduled_at = scheduled_time(message.execution.workflow_id)
    if scheduled_at is None:
        return None
    return Run(
        id=message.execution.workflow_id,
        run_id=message.execution.run_id,
        scheduled_at=scheduled_at,
        started_at=_time(message.start_time),
        closed_at=_time(message.close_time) if message.HasField("close_time") else None,
        status=STATUSES[message.status],
        marked=_text(attributes.get(OUTCOME_ATTRIBUTE)),
        scheduled_by=_text(attributes.get(SCHEDULED_BY)),
        parent=message.parent_execution.workflow_id,
        task_queue=message.task_queue,
        asked_by_hand=ASKED_MEMO in message.memo.fields,
        stuck=_problem(attributes.get(PROBLEMS)) if message.status == RUNNING else "",
        build=_build(message),
    )


def _problem(reported: object) -> str:
    """The cause of failing workflow tasks, among `category=…` and `cause=…`, which the server gives after five of them."""
    for text in reported if isinstance(reported, list) else ():
        name, _, value = str(text).partition("=")
        if name == "cause":
            return value.removeprefix("WorkflowTaskFailedCause")
    return ""


def _build(message: WorkflowExecutionInfo) -> str:
    """The build of the workers that started it, empty for none."""
    payload = message.memo.fields.get(BUILD_MEMO)
    return "" if payload is None else str(PayloadConverter.default.from_payload(payload))


def job_from_listing(entry: ScheduleListEntry) -> Job:
    """A job from its entry in List; nothing of its policies and arguments."""
    listed, info = from_listing(entry), entry.info
    return Job(
        name=listed.id,
        times=listed.times,
        owner=listed.owner or "",
        exact=not _may_be_cut(listed.times),
        paused=listed.paused and info.notes != MOVING,
        note=info.notes,
        workflow_type=listed.workflow_type,
        fingerprint=listed.fingerprint or "",
        next_times=without_mark(listed.times, map(_time, info.future_action_times)),
        recent=tuple(action.start_workflow_result.workflow_id for action in info.recent_actions),
    )


def job_from_description(observed: ObservedSchedule, retention: timedelta | None = None) -> Job:
    """All that is known of a job."""
    activity, request = observed.activity, job_request(observed)
    return Job(
        name=observed.id,
        times=observed.times,
        owner=observed.owner or "",
        paused=observed.state.paused and observed.state.note != MOVING,
        note=observed.state.note,
        created_at=activity.created_at,
        updated_at=activity.updated_at,
        overlap=observed.policies.overlap,
        window=observed.policies.catchup_window,
        catchup=request.catchup if request else None,
        remaining=observed.state.remaining_actions,
        waiting=activity.waiting,
        dropped=activity.dropped,
        skipped=activity.skipped,
        task_queue=observed.action.task_queue,
        workflow_id=observed.action.workflow_id,
        workflow_type=observed.action.workflow_type,
        retention=retention,
        limit=_limit(request) if request else _limit_of_action(observed.action),
        fingerprint=observed.fingerprint or "",
        next_times=without_mark(observed.times, activity.next_times),
        recent=activity.started,
        details=observed.action.details,
        is_v2=is_v2(observed.version),
    )


def job_request(observed: ObservedSchedule) -> JobRequest | None:
    """The argument of each run; None for a schedule that starts another workflow, or one that cannot be read."""
    action = observed.action
    if action.workflow_type != JOB_WORKFLOW or not action.args or not isinstance(action.args[0], dict):
        return None
    try:
        request: JobRequest = value_to_type(JobRequest, action.args[0])
    except (TypeError, ValueError):  # an encrypted argument, or one of a later release
        return None
    return request


def _limit(request: JobRequest) -> timedelta:
    seconds = request.deadline if request.deadline is not None else sum(step.timeout for step in request.steps)
    return timedelta(seconds=seconds)


def _limit_of_action(action: Action) -> timedelta | None:
    """Of a workflow that the schedule starts itself."""
    given = [seconds for seconds in (action.execution_timeout, action.run_timeout) if seconds]
    return timedelta(seconds=max(given)) if given else None


def times_at(record: SchedulerRecord, at: datetime) -> Times | None:
    """The times of the schedule by its spec at an instant; None where nobody knows."""
    spec = record.spec_at(at)
    return None if spec is None else from_spec(spec)


def with_times(job: Job, times: Times) -> Job:
    """The job with times that are known from elsewhere."""
    return replace(job, times=times, exact=True)


def _may_be_cut(times: Times) -> bool:
    return max(len(times.calendars), len(times.intervals), len(times.exclusions)) >= LISTED_ENTRIES


def _time(message: Timestamp) -> datetime:
    return message.ToDatetime(tzinfo=UTC)


def _text(value: Any) -> str:
    return "" if value is None else str(value)
