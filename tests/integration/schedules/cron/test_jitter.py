"""The jitter that is foretold is the one that the server applies."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import islice
from typing import TYPE_CHECKING

import pytest
from temporalio.api.workflowservice.v1 import DescribeNamespaceRequest, DescribeScheduleRequest

from schedules.cron import Occurrences, jittered
from schedules.model import EVERY_HOUR, EVERY_MINUTE, EVERY_SECOND, Calendar, Interval, Range, Times
from tests.integration.schedule_server import PATIENCE, connected, create, server_in_memory

if TYPE_CHECKING:
    from collections.abc import Iterator

NO_SUNDAY = Calendar(second=EVERY_SECOND, minute=EVERY_MINUTE, hour=EVERY_HOUR, day_of_week=(Range(0, 0),))
SCHEDULES = [
    Times("Europe/Berlin", (Calendar(hour=(Range(3, 3),)),), jitter=7200),
    Times("UTC", intervals=(Interval(86400, 7),), jitter=30),
    Times("UTC", (Calendar(hour=(Range(0, 23, 6),)),), jitter=10**6),  # more than lies between two times
    Times("America/New_York", intervals=(Interval(43200),), exclusions=(NO_SUNDAY,), jitter=86400),
    Times("UTC", (Calendar(day_of_month=(Range(1, 1),)),), jitter=60 * 86400),  # more milliseconds than 32 bits hold
]


@pytest.fixture
def address() -> Iterator[str]:
    with server_in_memory() as found:
        yield found


async def test_the_server_starts_runs_at_the_jittered_times_foretold(address: str) -> None:
    client = await connected(address)
    service = client.workflow_service
    namespace = await service.describe_namespace(
        DescribeNamespaceRequest(namespace="default"), retry=True, timeout=PATIENCE
    )
    for number, times in enumerate(SCHEDULES):
        name = f"job-{number}"
        await create(client, name, times)
        asked = DescribeScheduleRequest(namespace="default", schedule_id=name)
        answer = await service.describe_schedule(asked, retry=True, timeout=PATIENCE)
        served = [each.ToDatetime(tzinfo=UTC) for each in answer.info.future_action_times]
        first = Occurrences(times).previous_before(served[0])
        assert first is not None
        scheduled = islice(Occurrences(times).between(first, datetime(2100, 1, 1, tzinfo=UTC)), len(served))
        foretold = [
            jittered(times, each, namespace_id=namespace.namespace_info.id, schedule_id=name) for each in scheduled
        ]
        assert len(served) == 10
        assert served == foretold
