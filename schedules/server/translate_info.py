"""From Temporal's messages: what List shows of a schedule, what a schedule is doing, and its search attributes."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from temporalio.api.common.v1 import SearchAttributes
from temporalio.api.schedule.v1 import ScheduleSpec
from temporalio.converter import PayloadConverter

from schedules.model import Activity, ListedSchedule, Times
from schedules.server.translate_times import from_spec

if TYPE_CHECKING:
    from collections.abc import Mapping

    from google.protobuf.timestamp_pb2 import Timestamp
    from temporalio.api.schedule.v1 import ScheduleInfo, ScheduleListEntry


def from_listing(entry: ScheduleListEntry) -> ListedSchedule:
    """What List shows; its spec is cut to ten entries a field."""
    return ListedSchedule(
        id=entry.schedule_id,
        times=_times(entry.info.spec.SerializeToString(deterministic=True)),
        workflow_type=entry.info.workflow_type.name,
        paused=entry.info.paused,
        search_attributes=from_search_attributes(entry.search_attributes),
    )


def activity_of(info: ScheduleInfo) -> Activity:
    """What the schedule is doing, from its Describe."""
    return Activity(
        running=tuple(run.workflow_id for run in info.running_workflows),
        waiting=info.buffer_size,
        started=tuple(action.start_workflow_result.workflow_id for action in info.recent_actions),
        next_times=tuple(_time(at) for at in info.future_action_times),
        created_at=_time(info.create_time) if info.HasField("create_time") else None,
        updated_at=_time(info.update_time) if info.HasField("update_time") else None,
        dropped=info.missed_catchup_window,
        skipped=info.overlap_skipped,
    )


def to_search_attributes(values: Mapping[str, Any]) -> SearchAttributes:
    """Search attributes are never encoded by a codec: the server reads them."""
    converter = PayloadConverter.default
    return SearchAttributes(indexed_fields={name: converter.to_payload(value) for name, value in values.items()})


def from_search_attributes(message: SearchAttributes) -> dict[str, Any]:
    """Decoded values by name."""
    converter = PayloadConverter.default
    return {name: converter.from_payload(payload) for name, payload in message.indexed_fields.items()}


@lru_cache(maxsize=10_000)
def _times(spec: bytes) -> Times:
    """Many schedules of a namespace share their times."""
    return from_spec(ScheduleSpec.FromString(spec))


def _time(message: Timestamp) -> datetime:
    return message.ToDatetime(tzinfo=UTC)
