"""What a run did, step by step, from its history and from what it is doing now."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Literal

from temporalio.api.enums.v1 import PendingActivityState

from schedules.ledger.decoded import failure_text, first_value
from schedules.ledger.printed import Printed, of_failure, of_heartbeat, of_result

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

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
        kind = event.WhichOneof("attributes") or ""
        hear: Callable[[HistoryEvent, Any], Any] | None = getattr(
            self, "_" + kind.removesuffix("_event_attributes"), None
        )
        if hear is not None:
            await hear(event, getattr(event, kind))

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

    async def _workflow_task_started(self, event: HistoryEvent, told: Any) -> None:
        if self._whole.taken_at is None:
            self._whole = replace(self._whole, taken_at=_time(event.event_time), taken_by=told.identity)

    async def _workflow_task_failed(self, _event: HistoryEvent, told: Any) -> None:
        self._whole = replace(self._whole, task_failure=await self._failure(told.failure))

    async def _workflow_execution_cancel_requested(self, _event: HistoryEvent, told: Any) -> None:
        self._whole = replace(self._whole, ended_by=_said("cancelled", told.identity, told.cause))

    async def _workflow_execution_terminated(self, _event: HistoryEvent, told: Any) -> None:
        self._whole = replace(self._whole, ended_by=_said("terminated", told.identity, told.reason))

    async def _activity_task_scheduled(self, event: HistoryEvent, told: Any) -> None:
        self._by_activity[told.activity_id] = event.event_id
        name = await self._step_name(told.input) or told.activity_type.name
        self._steps[event.event_id] = StepStory(
            name, told.activity_type.name, _time(event.event_time), task_queue=told.task_queue.name
        )

    async def _activity_task_started(self, event: HistoryEvent, told: Any) -> None:
        failed = told.HasField("last_failure")
        errors = (await self._failure(told.last_failure),) if failed else ()
        before = (await of_failure(told.attempt - 1, told.last_failure, self._converter),) if failed else ()
        self._steps[told.scheduled_event_id] = replace(
            self._steps[told.scheduled_event_id],
            printed=before,
            end="running",
            started_at=_time(event.event_time),
            attempts=told.attempt,
            errors=errors,
            worker=told.identity,
        )

    async def _activity_task_completed(self, event: HistoryEvent, told: Any) -> None:
        attempt = self._steps[told.scheduled_event_id].attempts
        self._print(told.scheduled_event_id, await of_result(attempt, told.result, self._converter))
        self._close(event, told.scheduled_event_id, "succeeded")

    async def _activity_task_failed(self, event: HistoryEvent, told: Any) -> None:
        await self._print_failure(told.scheduled_event_id, told.failure)
        self._close(event, told.scheduled_event_id, "failed", await self._failure(told.failure))

    async def _activity_task_timed_out(self, event: HistoryEvent, told: Any) -> None:
        await self._print_failure(told.scheduled_event_id, told.failure)
        self._close(event, told.scheduled_event_id, "timed_out", await self._failure(told.failure))

    async def _activity_task_canceled(self, event: HistoryEvent, told: Any) -> None:
        self._close(event, told.scheduled_event_id, "cancelled")

    async def _start_child_workflow_execution_initiated(self, event: HistoryEvent, told: Any) -> None:
        self._steps[event.event_id] = StepStory(
            told.workflow_type.name,
            "workflow",
            _time(event.event_time),
            task_queue=told.task_queue.name,
            workflow_id=told.workflow_id,
        )

    async def _child_workflow_execution_started(self, event: HistoryEvent, told: Any) -> None:
        step = self._steps[told.initiated_event_id]
        self._steps[told.initiated_event_id] = replace(
            step, end="running", started_at=_time(event.event_time), attempts=1
        )

    async def _child_workflow_execution_completed(self, event: HistoryEvent, told: Any) -> None:
        self._close(event, told.initiated_event_id, "succeeded")

    async def _child_workflow_execution_failed(self, event: HistoryEvent, told: Any) -> None:
        self._close(event, told.initiated_event_id, "failed", await self._failure(told.failure))

    async def _child_workflow_execution_timed_out(self, event: HistoryEvent, told: Any) -> None:
        self._close(event, told.initiated_event_id, "timed_out")

    async def _child_workflow_execution_canceled(self, event: HistoryEvent, told: Any) -> None:
        self._close(event, told.initiated_event_id, "cancelled")

    async def _child_workflow_execution_terminated(self, event: HistoryEvent, told: Any) -> None:
        self._close(event, told.initiated_event_id, "failed", "terminated")

    async def _print_failure(self, place: int, failure: Failure) -> None:
        self._print(place, await of_failure(self._steps[place].attempts, failure, self._converter))

    def _print(self, place: int, printed: Printed) -> None:
        self._steps[place] = replace(self._steps[place], printed=(*self._steps[place].printed, printed))

    def _close(self, event: HistoryEvent, place: int, end: StepEnd, error: str = "") -> None:
        step = self._steps[place]
        errors = (*step.errors, error) if error else step.errors
        self._steps[place] = replace(step, end=end, closed_at=_time(event.event_time), errors=errors)

    async def _step_name(self, given: Payloads) -> str:
        """The step that an activity of ours runs."""
        call = await self._first(given)
        step = call.get("step") if isinstance(call, dict) else None
        return str(step.get("name", "")) if isinstance(step, dict) else ""

    async def _first(self, given: Payloads) -> Any:
        return await first_value(given, self._converter)

    async def _failure(self, failure: Failure) -> str:
        return await failure_text(failure, self._converter)


def _said(what: str, who: str, why: str) -> str:
    return what + (f" by {who}" if who else "") + (f": {why}" if why else "")


def _time(message: Timestamp) -> datetime:
    return message.ToDatetime(tzinfo=UTC)
