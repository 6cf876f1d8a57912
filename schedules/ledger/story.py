"""The story of a run, step by step, from its history and from what it is doing now."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Literal, assert_never

from temporalio.api.enums.v1 import PendingActivityState
from temporalio.api.history import v1 as history

from schedules.ledger.attempt_output import Printed, of_failure, of_heartbeat, of_result
from schedules.ledger.decoded import attributes_of, failure_text, first_value

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from google.protobuf.timestamp_pb2 import Timestamp
    from temporalio.api.common.v1 import Payloads
    from temporalio.api.failure.v1 import Failure
    from temporalio.api.history.v1 import HistoryEvent
    from temporalio.api.workflow.v1 import PendingActivityInfo
    from temporalio.converter import DataConverter

StepEnd = Literal["waiting", "running", "succeeded", "failed", "timed_out", "cancelled"]


@dataclass(frozen=True, slots=True)
class StepStory:
    """One activity or child workflow of a run. `attempts` counts from 1; `errors` are those known, oldest first.

    `retry_at` and `heartbeat` are those of a step that goes on: when it is tried next, and what it reported last.
    """

    name: str
    kind: str
    scheduled_at: datetime
    end: StepEnd = "waiting"
    started_at: datetime | None = None
    closed_at: datetime | None = None
    attempts: int = 0
    errors: tuple[str, ...] = ()
    worker: str = ""
    task_queue: str = ""
    retry_at: datetime | None = None
    heartbeat: Any = None
    heartbeat_at: datetime | None = None
    workflow_id: str = ""
    printed: tuple[Printed, ...] = ()
    """What its attempts put out, those of which something is kept, the oldest first."""


@dataclass(frozen=True, slots=True)
class Story:
    """`taken_at` is when a worker took the run first, None where none has; `ended_by` who cancelled or terminated it."""

    steps: tuple[StepStory, ...] = ()
    taken_at: datetime | None = None
    taken_by: str = ""
    ended_by: str = ""
    task_failure: str = ""


_OfRun = (
    history.WorkflowTaskStartedEventAttributes
    | history.WorkflowTaskFailedEventAttributes
    | history.WorkflowExecutionCancelRequestedEventAttributes
    | history.WorkflowExecutionTerminatedEventAttributes
)
_OfActivity = (
    history.ActivityTaskScheduledEventAttributes
    | history.ActivityTaskStartedEventAttributes
    | history.ActivityTaskCompletedEventAttributes
    | history.ActivityTaskFailedEventAttributes
    | history.ActivityTaskTimedOutEventAttributes
    | history.ActivityTaskCanceledEventAttributes
)
_OfChild = (
    history.StartChildWorkflowExecutionInitiatedEventAttributes
    | history.ChildWorkflowExecutionStartedEventAttributes
    | history.ChildWorkflowExecutionCompletedEventAttributes
    | history.ChildWorkflowExecutionFailedEventAttributes
    | history.ChildWorkflowExecutionTimedOutEventAttributes
    | history.ChildWorkflowExecutionCanceledEventAttributes
    | history.ChildWorkflowExecutionTerminatedEventAttributes
)


async def story_of(
    events: Sequence[HistoryEvent], pending: Iterable[PendingActivityInfo], converter: DataConverter
) -> Story:
    """The story of a run; what the converter cannot read is named by its type."""
    teller = _Teller(converter)
    for event in events:
        await teller.hear(event)
    for info in pending:
        await teller.hear_pending(info)
    return teller.story()


class _Teller:
    """Steps by the event that began them, and what is said about the run as a whole."""

    def __init__(self, converter: DataConverter) -> None:
        self._converter = converter
        self._steps: dict[int, StepStory] = {}
        self._by_activity: dict[str, int] = {}
        self._whole = Story()

    def story(self) -> Story:
        return replace(self._whole, steps=tuple(self._steps.values()))

    async def hear(self, event: HistoryEvent) -> None:
        said, at = attributes_of(event), _time(event.event_time)
        if isinstance(said, _OfRun):
            await self._hear_run(said, at)
        elif isinstance(said, _OfActivity):
            await self._hear_activity(said, at, event.event_id)
        elif isinstance(said, _OfChild):
            await self._hear_child(said, at, event.event_id)

    async def hear_pending(self, info: PendingActivityInfo) -> None:
        place = self._by_activity.get(info.activity_id)
        if place is None:
            return
        started = info.state != PendingActivityState.PENDING_ACTIVITY_STATE_SCHEDULED
        errors = (await self._failure(info.last_failure),) if info.HasField("last_failure") else ()
        printed = []
        if info.HasField("last_failure"):
            printed.append(await of_failure(info.attempt - 1, info.last_failure, self._converter))
        if started:
            printed.append(await of_heartbeat(info.attempt, info.heartbeat_details, self._converter))
        self._steps[place] = replace(
            self._steps[place],
            printed=tuple(printed),
            end="running" if started else "waiting",
            attempts=info.attempt,
            errors=errors,
            started_at=_time(info.last_started_time) if started and info.HasField("last_started_time") else None,
            worker=info.last_worker_identity,
            retry_at=_time(info.scheduled_time) if info.attempt > 1 and not started else None,
            heartbeat=await self._first(info.heartbeat_details),
            heartbeat_at=_time(info.last_heartbeat_time) if info.HasField("last_heartbeat_time") else None,
        )

    async def _hear_run(self, said: _OfRun, at: datetime) -> None:
        match said:
            case history.WorkflowTaskStartedEventAttributes():
                if self._whole.taken_at is None:
                    self._whole = replace(self._whole, taken_at=at, taken_by=said.identity)
            case history.WorkflowTaskFailedEventAttributes():
                self._whole = replace(self._whole, task_failure=await self._failure(said.failure))
            case history.WorkflowExecutionCancelRequestedEventAttributes():
                self._whole = replace(self._whole, ended_by=_ended_by("cancelled", said.identity, said.cause))
            case history.WorkflowExecutionTerminatedEventAttributes():
                self._whole = replace(self._whole, ended_by=_ended_by("terminated", said.identity, said.reason))
            case _:
                assert_never(said)

    async def _hear_activity(self, said: _OfActivity, at: datetime, number: int) -> None:
        match said:
            case history.ActivityTaskScheduledEventAttributes():
                self._by_activity[said.activity_id] = number
                name = await self._step_name(said.input) or said.activity_type.name
                self._steps[number] = StepStory(name, said.activity_type.name, at, task_queue=said.task_queue.name)
            case history.ActivityTaskStartedEventAttributes():
                await self._start(said, at)
            case history.ActivityTaskCompletedEventAttributes():
                attempt = self._steps[said.scheduled_event_id].attempts
                self._print(said.scheduled_event_id, await of_result(attempt, said.result, self._converter))
                self._close(at, said.scheduled_event_id, "succeeded")
            case history.ActivityTaskFailedEventAttributes():
                await self._print_failure(said.scheduled_event_id, said.failure)
                self._close(at, said.scheduled_event_id, "failed", await self._failure(said.failure))
            case history.ActivityTaskTimedOutEventAttributes():
                await self._print_failure(said.scheduled_event_id, said.failure)
                self._close(at, said.scheduled_event_id, "timed_out", await self._failure(said.failure))
            case history.ActivityTaskCanceledEventAttributes():
                self._close(at, said.scheduled_event_id, "cancelled")
            case _:
                assert_never(said)

    async def _start(self, said: history.ActivityTaskStartedEventAttributes, at: datetime) -> None:
        failed = said.HasField("last_failure")
        errors = (await self._failure(said.last_failure),) if failed else ()
        before = (await of_failure(said.attempt - 1, said.last_failure, self._converter),) if failed else ()
        self._steps[said.scheduled_event_id] = replace(
            self._steps[said.scheduled_event_id],
            printed=before,
            end="running",
            started_at=at,
            attempts=said.attempt,
            errors=errors,
            worker=said.identity,
        )

    async def _hear_child(self, said: _OfChild, at: datetime, number: int) -> None:
        match said:
            case history.StartChildWorkflowExecutionInitiatedEventAttributes():
                name, queue = said.workflow_type.name, said.task_queue.name
                self._steps[number] = StepStory(name, "workflow", at, task_queue=queue, workflow_id=said.workflow_id)
            case history.ChildWorkflowExecutionStartedEventAttributes():
                step = self._steps[said.initiated_event_id]
                self._steps[said.initiated_event_id] = replace(step, end="running", started_at=at, attempts=1)
            case history.ChildWorkflowExecutionCompletedEventAttributes():
                self._close(at, said.initiated_event_id, "succeeded")
            case history.ChildWorkflowExecutionFailedEventAttributes():
                self._close(at, said.initiated_event_id, "failed", await self._failure(said.failure))
            case history.ChildWorkflowExecutionTimedOutEventAttributes():
                self._close(at, said.initiated_event_id, "timed_out")
            case history.ChildWorkflowExecutionCanceledEventAttributes():
                self._close(at, said.initiated_event_id, "cancelled")
            case history.ChildWorkflowExecutionTerminatedEventAttributes():
                self._close(at, said.initiated_event_id, "failed", "terminated")
            case _:
                assert_never(said)

    async def _print_failure(self, place: int, failure: Failure) -> None:
        self._print(place, await of_failure(self._steps[place].attempts, failure, self._converter))

    def _print(self, place: int, printed: Printed) -> None:
        self._steps[place] = replace(self._steps[place], printed=(*self._steps[place].printed, printed))

    def _close(self, at: datetime, place: int, end: StepEnd, error: str = "") -> None:
        step = self._steps[place]
        errors = (*step.errors, error) if error else step.errors
        self._steps[place] = replace(step, end=end, closed_at=at, errors=errors)

    async def _step_name(self, given: Payloads) -> str:
        """The step that an activity of ours runs."""
        call = await self._first(given)
        step = call.get("step") if isinstance(call, dict) else None
        return str(step.get("name", "")) if isinstance(step, dict) else ""

    async def _first(self, given: Payloads) -> Any:
        return await first_value(given, self._converter)

    async def _failure(self, failure: Failure) -> str:
        return await failure_text(failure, self._converter)


def _ended_by(what: str, who: str, why: str) -> str:
    return what + (f" by {who}" if who else "") + (f": {why}" if why else "")


def _time(message: Timestamp) -> datetime:
    return message.ToDatetime(tzinfo=UTC)
