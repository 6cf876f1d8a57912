"""From Temporal's messages: what List shows of a schedule, what a schedule is doing, and its search attributes."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from temporalio.api.common.v1 import SearchAttributes
from temporalio.api.schedule.v1 import ScheduleSpec
from temporalio.converter import PayloadConverter

from activities.conflict_token import is_v2
from schedules.model import Activity, ListedSchedule, Times
from schedules.server.translate_times import from_spec

if TYPE_CHECKING:
    from collections.abc import Mapping

    from google.protobuf.timestamp_pb2 import Timestamp
    from temporalio.api.schedule.v1 import ScheduleListEntry
    from temporalio.api.workflowservice.v1 import DescribeScheduleResponse

    from activities.overlap import Overlap


def from_listing(entry: ScheduleListEntry) -> ListedSchedule:
    """A schedule's entry in List; its spec is cut to ten entries a field."""
    return ListedSchedule(
        id=entry.schedule_id,
        times=_times(entry.info.spec.SerializeToString(deterministic=True)),
        workflow_type=entry.info.workflow_type.name,
        paused=entry.info.paused,
        search_attributes=from_search_attributes(entry.search_attributes),
    )


def activity_of(described: DescribeScheduleResponse, overlap: Overlap) -> Activity:
    """The current doings of a schedule, from its description."""
    info = described.info
    return Activity(
        running=tuple(run.workflow_id for run in info.running_workflows),
        waiting=_waiting(described, overlap),
        queued=info.buffer_size,
        started=tuple(action.start_workflow_result.workflow_id for action in info.recent_actions),
        next_times=tuple(_time(at) for at in info.future_action_times),
        created_at=_time(info.create_time) if info.HasField("create_time") else None,
        updated_at=None
        if is_v2(described.conflict_token) or not info.HasField("update_time")
        else _time(info.update_time),
        dropped=info.missed_catchup_window,
        skipped=info.overlap_skipped,
    )


def _waiting(described: DescribeScheduleResponse, overlap: Overlap) -> int:
    """The starts that wait. V2 counts under `buffer_one` all that were due in a run, and takes one of them when that has ended."""
    count = described.info.buffer_size
    return min(count, 1) if overlap == "buffer_one" and is_v2(described.conflict_token) else count


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
