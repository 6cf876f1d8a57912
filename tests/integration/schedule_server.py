"""A real server in memory, and schedules on it from the compiled form."""

from __future__ import annotations

import asyncio
import socket
import subprocess
import sys
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from google.protobuf.duration_pb2 import Duration
from google.protobuf.timestamp_pb2 import Timestamp
from temporalio.api.common.v1 import WorkflowType
from temporalio.api.schedule.v1 import (
    IntervalSpec,
    Range,
    Schedule,
    ScheduleAction,
    ScheduleSpec,
    ScheduleState,
    StructuredCalendarSpec,
)
from temporalio.api.taskqueue.v1 import TaskQueue
from temporalio.api.workflow.v1 import NewWorkflowExecutionInfo
from temporalio.api.workflowservice.v1 import CreateScheduleRequest, ListScheduleMatchingTimesRequest
from temporalio.client import Client

if TYPE_CHECKING:
    from collections.abc import Iterator

    from schedules.model import Calendar, Ranges, Times

PATIENCE = timedelta(seconds=60)


@contextmanager
def server_in_memory() -> Iterator[str]:
    """The address of a server on a free port, which ends with the block."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    binary = str(Path(sys.executable).with_name("temporal"))
    command = [
        binary,
        "server",
        "start-dev",
        "--headless",
        "--ip",
        "127.0.0.1",
        "--port",
        str(port),
        "--log-level",
        "never",
    ]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
        try:
            yield f"127.0.0.1:{port}"
        finally:
            server.terminate()


async def connected(address: str) -> Client:
    for _ in range(150):
        try:
            return await Client.connect(address)
        except RuntimeError:  # the server is not up yet
            await asyncio.sleep(0.2)
    raise AssertionError(f"no server at {address} after 30 s")


def ranges(source: Ranges) -> list[Range]:
    return [Range(start=each.start, end=each.end, step=each.step) for each in source]


def structured(source: Calendar) -> StructuredCalendarSpec:
    return StructuredCalendarSpec(
        second=ranges(source.second),
        minute=ranges(source.minute),
        hour=ranges(source.hour),
        day_of_month=ranges(source.day_of_month),
        month=ranges(source.month),
        day_of_week=ranges(source.day_of_week),
        year=ranges(source.year),
        comment=source.comment,
    )


def spec_of(times: Times) -> ScheduleSpec:
    intervals = [
        IntervalSpec(interval=Duration(seconds=each.every), phase=Duration(seconds=each.offset))
        for each in times.intervals
    ]
    return ScheduleSpec(
        structured_calendar=[structured(each) for each in times.calendars],
        interval=intervals,
        exclude_structured_calendar=[structured(each) for each in times.exclusions],
        start_time=None if times.start_at is None else Timestamp(seconds=int(times.start_at.timestamp())),
        end_time=None if times.end_at is None else Timestamp(seconds=int(times.end_at.timestamp())),
        timezone_name=times.timezone,
        jitter=Duration(seconds=times.jitter),
    )


async def create(client: Client, name: str, times: Times) -> None:
    start = NewWorkflowExecutionInfo(
        workflow_id=name, workflow_type=WorkflowType(name="never"), task_queue=TaskQueue(name="nobody")
    )
    schedule = Schedule(
        spec=spec_of(times), action=ScheduleAction(start_workflow=start), state=ScheduleState(paused=True)
    )
    request = CreateScheduleRequest(namespace="default", schedule_id=name, schedule=schedule, request_id=name)
    await client.workflow_service.create_schedule(request, retry=True, timeout=PATIENCE)


async def listed(client: Client, name: str, start: datetime, end: datetime) -> list[datetime]:
    """What the server says that a schedule matches strictly between two instants, at most 1,000."""
    request = ListScheduleMatchingTimesRequest(namespace="default", schedule_id=name)
    request.start_time.FromDatetime(start)
    request.end_time.FromDatetime(end)
    answer = await client.workflow_service.list_schedule_matching_times(request, retry=True, timeout=PATIENCE)
    found = [datetime.fromtimestamp(each.seconds, UTC) for each in answer.start_time]
    return [each for each in found if start < each < end]
