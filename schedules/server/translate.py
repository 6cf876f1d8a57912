"""Between our schedule values and Temporal's messages; arguments and texts go through the client's data converter."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from google.protobuf.duration_pb2 import Duration
from google.protobuf.json_format import MessageToDict
from temporalio.api.common.v1 import Memo, Payloads, RetryPolicy, WorkflowType
from temporalio.api.enums.v1 import ScheduleOverlapPolicy, TaskQueueKind
from temporalio.api.schedule.v1 import Schedule, ScheduleAction, SchedulePolicies, ScheduleState
from temporalio.api.sdk.v1 import UserMetadata
from temporalio.api.taskqueue.v1 import TaskQueue
from temporalio.api.workflow.v1 import NewWorkflowExecutionInfo
from temporalio.converter import DataConverter

from activities.overlap import Overlap
from schedules.model import Action, ObservedSchedule, Policies, Retry, RuntimeState, Times, Unsaid
from schedules.server.translate_info import activity_of, from_search_attributes, to_search_attributes
from schedules.server.translate_payloads import NO_JSON, PayloadReader
from schedules.server.translate_times import from_spec, seconds, to_spec

if TYPE_CHECKING:
    from collections.abc import Iterator

    from temporalio.api.workflowservice.v1 import DescribeScheduleResponse

OVERLAPS: dict[Overlap, ScheduleOverlapPolicy.ValueType] = {
    "skip": ScheduleOverlapPolicy.SCHEDULE_OVERLAP_POLICY_SKIP,
    "buffer_one": ScheduleOverlapPolicy.SCHEDULE_OVERLAP_POLICY_BUFFER_ONE,
    "buffer_all": ScheduleOverlapPolicy.SCHEDULE_OVERLAP_POLICY_BUFFER_ALL,
    "cancel_other": ScheduleOverlapPolicy.SCHEDULE_OVERLAP_POLICY_CANCEL_OTHER,
    "terminate_other": ScheduleOverlapPolicy.SCHEDULE_OVERLAP_POLICY_TERMINATE_OTHER,
    "allow_all": ScheduleOverlapPolicy.SCHEDULE_OVERLAP_POLICY_ALLOW_ALL,
}
OVERLAP_NAMES = {number: name for name, number in OVERLAPS.items()}
NO_TIME = "0s"
"""What the `temporal` command writes where nothing is meant."""
DEFAULT_CATCHUP_WINDOW = 365 * 24 * 3600
"""The server's own, where a schedule names none (seconds)."""


async def to_schedule(
    schedule_id: str,
    times: Times,
    action: Action,
    policies: Policies,
    state: RuntimeState,
    converter: DataConverter,
) -> Schedule:
    """The message that makes the server keep exactly these values."""
    return Schedule(
        spec=to_spec(times),
        action=ScheduleAction(start_workflow=await _to_start(schedule_id, action, converter)),
        policies=SchedulePolicies(
            overlap_policy=OVERLAPS[policies.overlap],
            catchup_window=seconds(policies.catchup_window),
            pause_on_failure=policies.pause_on_failure,
        ),
        state=ScheduleState(
            notes=state.note,
            paused=state.paused,
            limited_actions=state.remaining_actions is not None,
            remaining_actions=state.remaining_actions or 0,
        ),
    )


async def from_description(
    schedule_id: str, response: DescribeScheduleResponse, converter: DataConverter
) -> ObservedSchedule:
    """The schedule in the server's answer, with the names of all that our values do not carry in `other`."""
    message = response.schedule
    times, policies, state = from_spec(message.spec), _from_policies(message.policies), _from_state(message.state)
    reader = PayloadReader(converter)
    action = await _from_start(schedule_id, message.action.start_workflow, reader)
    return ObservedSchedule(
        id=schedule_id,
        times=times,
        action=action,
        policies=policies,
        state=state,
        version=response.conflict_token,
        search_attributes=from_search_attributes(response.search_attributes),
        other=await _other(schedule_id, message, (times, action, policies, state), reader),
        activity=activity_of(response, policies.overlap),
        encryption=reader.encryption,
        unreadable=reader.unreadable,
        memo=tuple(sorted(response.memo.fields)),
    )


async def _to_start(schedule_id: str, action: Action, converter: DataConverter) -> NewWorkflowExecutionInfo:
    retry = action.retry
    return NewWorkflowExecutionInfo(
        workflow_id=action.workflow_id or schedule_id,
        workflow_type=WorkflowType(name=action.workflow_type),
        task_queue=TaskQueue(name=action.task_queue, kind=TaskQueueKind.TASK_QUEUE_KIND_NORMAL),
        input=Payloads(payloads=await converter.encode(action.args)),
        workflow_execution_timeout=_timeout(action.execution_timeout),
        workflow_run_timeout=_timeout(action.run_timeout),
        workflow_task_timeout=_timeout(action.task_timeout),
        retry_policy=_to_retry(retry) if retry else None,
        memo=Memo(fields={name: (await converter.encode([value]))[0] for name, value in action.memo.items()})
        if action.memo
        else None,
        search_attributes=to_search_attributes(action.search_attributes) if action.search_attributes else None,
        user_metadata=UserMetadata(
            summary=(await converter.encode([action.summary]))[0] if action.summary else None,
            details=(await converter.encode([action.details]))[0] if action.details else None,
        )
        if action.summary or action.details
        else None,
    )


async def _from_start(schedule_id: str, start: NewWorkflowExecutionInfo, reader: PayloadReader) -> Action:
    return Action(
        workflow_type=start.workflow_type.name,
        task_queue=start.task_queue.name,
        args=tuple([await reader.value(each, f"args[{index}]") for index, each in enumerate(start.input.payloads)]),
        search_attributes=from_search_attributes(start.search_attributes),
        memo={name: await reader.value(payload, f"memo.{name}") for name, payload in start.memo.fields.items()},
        summary=await _text(start.user_metadata, "summary", reader),
        details=await _text(start.user_metadata, "details", reader),
        execution_timeout=start.workflow_execution_timeout.seconds,
        run_timeout=start.workflow_run_timeout.seconds,
        task_timeout=start.workflow_task_timeout.seconds,
        retry=_from_retry(start.retry_policy) if start.HasField("retry_policy") else None,
        workflow_id="" if start.workflow_id == schedule_id else start.workflow_id,
    )


def _from_policies(message: SchedulePolicies) -> Policies:
    window = message.catchup_window.seconds if message.HasField("catchup_window") else DEFAULT_CATCHUP_WINDOW
    return Policies(OVERLAP_NAMES.get(message.overlap_policy, "skip"), window, message.pause_on_failure)


def _from_state(message: ScheduleState) -> RuntimeState:
    remaining = message.remaining_actions if message.limited_actions else None
    return RuntimeState(message.paused, message.notes, remaining)


def _to_retry(retry: Retry) -> RetryPolicy:
    return RetryPolicy(
        initial_interval=_milliseconds(retry.initial_ms),
        backoff_coefficient=retry.coefficient,
        maximum_interval=_milliseconds(retry.max_ms),
        maximum_attempts=retry.max_attempts,
        non_retryable_error_types=retry.non_retryable,
    )


def _from_retry(message: RetryPolicy) -> Retry:
    return Retry(
        max_attempts=message.maximum_attempts,
        initial_ms=message.initial_interval.ToMilliseconds(),
        coefficient=message.backoff_coefficient,
        max_ms=message.maximum_interval.ToMilliseconds(),
        non_retryable=tuple(message.non_retryable_error_types),
    )


async def _other(
    schedule_id: str, message: Schedule, read: tuple[Times, Action, Policies, RuntimeState], reader: PayloadReader
) -> tuple[Unsaid, ...]:
    """What is lost when the message is rebuilt from what was read of it: the fields that we do not carry.

    Payloads are left out of the comparison; they were read one by one.
    """
    rebuilt = await to_schedule(schedule_id, *read, DataConverter.default)
    found = [*_differences(_stripped(message), _stripped(rebuilt)), *_without_json(read[1]), *reader.metadata]
    return tuple(sorted(found, key=lambda item: item.field))


def _without_json(action: Action) -> Iterator[Unsaid]:
    """Arguments and memo fields that could not be read as JSON."""
    places = [(f"args[{index}]", value) for index, value in enumerate(action.args)]
    places += [(f"memo.{name}", value) for name, value in action.memo.items()]
    return (Unsaid(f"action.{place}", value) for place, value in places if isinstance(value, dict) and NO_JSON in value)


def _stripped(message: Schedule) -> dict[str, Any]:
    tree: dict[str, Any] = MessageToDict(message, preserving_proto_field_name=True)
    start = tree.get("action", {}).get("start_workflow", {})
    for name in ("input", "memo", "search_attributes", "user_metadata"):
        start.pop(name, None)
    if not message.policies.HasField("catchup_window"):
        tree.setdefault("policies", {})["catchup_window"] = f"{DEFAULT_CATCHUP_WINDOW}s"
    tree.setdefault("spec", {}).setdefault("timezone_name", "UTC")
    return tree


def _differences(left: Any, right: Any, path: str = "") -> Iterator[Unsaid]:
    """Where two trees differ; an empty mapping equals an absent one, and so does no time at all."""
    if isinstance(left or {}, dict) and isinstance(right or {}, dict):
        left, right = left or {}, right or {}
        for name in left.keys() | right.keys():
            yield from _differences(left.get(name), right.get(name), f"{path}.{name}" if path else name)
    elif isinstance(left, list) and isinstance(right, list) and len(left) == len(right):
        for index, pair in enumerate(zip(left, right, strict=True)):
            yield from _differences(*pair, f"{path}[{index}]")
    elif (left or NO_TIME) != (right or NO_TIME):
        yield Unsaid(path, left, right)


async def _text(metadata: UserMetadata, name: str, reader: PayloadReader) -> str:
    if not metadata.HasField(name):  # type: ignore[arg-type]  # the stubs want a literal
        return ""
    return str(await reader.value(getattr(metadata, name), name))


def _timeout(value: int) -> Duration | None:
    return seconds(value) if value else None


def _milliseconds(value: int) -> Duration:
    message = Duration()
    message.FromMilliseconds(value)
    return message
