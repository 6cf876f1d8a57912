"""Notices, their channels and their delivery, from the history of the workflow that sends them. No address is ever read."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, assert_never

from temporalio.api.history import v1 as history
from temporalio.converter import value_to_type

from activities.notices.contract import ENDED_SIGNAL, SEND_NOTICE, TEND_SCHEDULE, AlertRequest
from schedules.ledger.decoded import attributes_of, failure_text, first_value
from schedules.ledger.notices.sent import BEGIN, NoticeHistory, Reported, Sent, SentState

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from google.protobuf.timestamp_pb2 import Timestamp
    from temporalio.api.history.v1 import HistoryEvent
    from temporalio.api.workflow.v1 import PendingActivityInfo
    from temporalio.converter import DataConverter

_OfWorkflow = (
    history.WorkflowExecutionStartedEventAttributes
    | history.WorkflowExecutionSignaledEventAttributes
    | history.WorkflowExecutionTerminatedEventAttributes
)
_OfActivity = (
    history.ActivityTaskScheduledEventAttributes
    | history.ActivityTaskStartedEventAttributes
    | history.ActivityTaskCompletedEventAttributes
    | history.ActivityTaskFailedEventAttributes
    | history.ActivityTaskTimedOutEventAttributes
)


async def notices_in(
    workflow_id: str,
    run_id: str,
    events: Sequence[HistoryEvent],
    pending: Iterable[PendingActivityInfo],
    converter: DataConverter,
) -> NoticeHistory:
    """The notices and reports in a workflow's history; `pending` are the activities that it runs now."""
    listener = _Listener(NoticeHistory(workflow_id, run_id), converter)
    for event in events:
        await listener.hear(event)
    for info in pending:
        await listener.hear_pending(info)
    return listener.told()


class _Listener:
    """Notices by the event that posted them."""

    def __init__(self, told: NoticeHistory, converter: DataConverter) -> None:
        self._told, self._converter = told, converter
        self._sent: dict[int, Sent] = {}
        self._by_activity: dict[str, int] = {}
        self._reports: dict[str, Reported] = {}
        self._looks: dict[int, datetime] = {}
        self._failed_at = BEGIN

    def told(self) -> NoticeHistory:
        reports = sorted(self._reports.values(), key=lambda each: each.ended_at)
        return replace(self._told, reports=(*reports,), sent=(*self._sent.values(),))

    async def hear(self, event: HistoryEvent) -> None:
        said, at = attributes_of(event), _time(event.event_time)
        if isinstance(said, _OfWorkflow):
            await self._hear_workflow(said, at)
        elif isinstance(said, _OfActivity):
            await self._hear_activity(said, at, event.event_id)

    async def hear_pending(self, info: PendingActivityInfo) -> None:
        place = self._by_activity.get(info.activity_id)
        if place is None:
            return
        error = await failure_text(info.last_failure, self._converter) if info.HasField("last_failure") else ""
        self._sent[place] = replace(self._sent[place], attempts=info.attempt, error=error)

    async def _hear_workflow(self, said: _OfWorkflow, at: datetime) -> None:
        match said:
            case history.WorkflowExecutionStartedEventAttributes():
                state = await self._mapping(said.input)
                failures, since = int(state.get("failures") or 0), str(state.get("since") or "")
                self._told = replace(self._told, failures=failures, since=since, was_told=bool(state.get("told")))
                self._failed_at = _instant(state.get("failed_at"), BEGIN)
            case history.WorkflowExecutionSignaledEventAttributes():
                if said.signal_name == ENDED_SIGNAL and (report := await self._mapping(said.input)):
                    self._report(report, at)
            case history.WorkflowExecutionTerminatedEventAttributes():
                for place, sent in self._sent.items():
                    if sent.state == "under_way":
                        self._close(at, place, "given_up", "the workflow that sends was terminated")
            case _:
                assert_never(said)

    def _report(self, report: Mapping[str, Any], at: datetime) -> None:
        ended_at = _instant(report.get("ended_at"), at)
        before = _success(report.get("success_before"))
        if before and before.ended_at > self._failed_at:
            self._add(before)
        if report.get("outcome") != "succeeded":
            self._failed_at = max(self._failed_at, ended_at)
        self._add(_reported(report, str(report.get("outcome", "")), ended_at))

    def _add(self, report: Reported) -> None:
        self._reports.setdefault(report.run_id or f"{report.outcome} {report.workflow_id}", report)

    async def _hear_activity(self, said: _OfActivity, at: datetime, number: int) -> None:
        match said:
            case history.ActivityTaskScheduledEventAttributes():
                await self._begin(said, at, number)
            case history.ActivityTaskStartedEventAttributes():
                if sent := self._sent.get(said.scheduled_event_id):
                    self._sent[said.scheduled_event_id] = replace(sent, attempts=said.attempt)
            case history.ActivityTaskCompletedEventAttributes():
                if (since := self._looks.get(said.scheduled_event_id)) is not None:
                    seen = await self._mapping(said.result)
                    if success := _success(seen.get("success")):
                        self._add(success)
                    if seen.get("standing") == "gone":
                        self._add(Reported("", f"{self._told.workflow_id} {number}", "gone", "", since))
                self._close(at, said.scheduled_event_id, "delivered")
            case history.ActivityTaskFailedEventAttributes() | history.ActivityTaskTimedOutEventAttributes():
                error = await failure_text(said.failure, self._converter)
                self._close(at, said.scheduled_event_id, "given_up", error)
            case _:
                assert_never(said)

    async def _begin(self, said: history.ActivityTaskScheduledEventAttributes, at: datetime, number: int) -> None:
        if said.activity_type.name == TEND_SCHEDULE and (tending := await self._mapping(said.input)):
            self._looks[number] = _instant(tending.get("since"), BEGIN)
        if said.activity_type.name != SEND_NOTICE or not (delivery := await self._mapping(said.input)):
            return
        notice, target = (dict(delivery.get(key) or {}) for key in ("notice", "target"))
        self._by_activity[said.activity_id] = number
        self._sent[number] = Sent(
            event=str(notice.get("event", "")),
            channel=str(target.get("channel", "")),
            state="under_way",
            at=at,
            attempts=0,
            workflow_id=self._told.workflow_id,
            run_id=self._told.run_id,
            event_id=number,
            about=str(notice.get("workflow_id") or ""),
            about_run=str(notice.get("run_id") or ""),
            since=str(notice.get("since") or ""),
        )

    def _close(self, at: datetime, place: int, state: SentState, error: str = "") -> None:
        if sent := self._sent.get(place):
            self._sent[place] = replace(sent, state=state, at=at, error=error)

    async def _mapping(self, given: Any) -> dict[str, Any]:
        """The first argument; empty, and the whole marked as not readable, where it is none that can be read here."""
        value = await first_value(given, self._converter)
        if isinstance(value, dict):
            return value
        self._told = replace(self._told, readable=False)
        return {}


def _time(message: Timestamp) -> datetime:
    return message.ToDatetime(tzinfo=UTC)


async def alerts_of(events: Sequence[HistoryEvent], converter: DataConverter) -> AlertRequest | None:
    """The channels that were to be told of a run, from its arguments. Raises UnknownRequestError where that cannot be read here."""
    given = events[0].workflow_execution_started_event_attributes.input if events else None
    request = await first_value(given, converter) if given else None
    if not isinstance(request, dict):
        raise UnknownRequestError
    if not request.get("alerts"):
        return None
    try:
        alerts: AlertRequest = value_to_type(AlertRequest, request["alerts"])
    except (TypeError, ValueError) as error:
        raise UnknownRequestError from error
    return alerts


class UnknownRequestError(Exception):
    """The arguments of a run are gone, or encrypted with a key that is missing here."""


def _reported(of: Mapping[str, Any], outcome: str, ended_at: datetime) -> Reported:
    run_id, workflow_id, at = (str(of.get(key) or "") for key in ("run_id", "workflow_id", "scheduled_at"))
    return Reported(run_id, workflow_id, outcome, at, ended_at)


def _success(told: Any) -> Reported | None:
    return _reported(told, "succeeded", _instant(told.get("ended_at"), BEGIN)) if isinstance(told, dict) else None


def _instant(text: Any, otherwise: datetime) -> datetime:
    return datetime.fromisoformat(str(text)) if text else otherwise
