"""The backlog of the task queue, as the server knows it: for autoscaling, and for a word at /readyz."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Sequence
from datetime import timedelta
from itertools import pairwise
from typing import TYPE_CHECKING

import structlog
from temporalio.api.enums.v1 import TaskQueueType
from temporalio.api.taskqueue.v1 import TaskQueue, TaskQueueStats
from temporalio.api.workflowservice.v1 import DescribeTaskQueueRequest
from temporalio.service import RPCError, RPCStatusCode

if TYPE_CHECKING:
    from temporalio.client import Client

    from worker.metrics.metrics import WorkerMetrics

KINDS = {
    "workflow": TaskQueueType.TASK_QUEUE_TYPE_WORKFLOW,
    "activity": TaskQueueType.TASK_QUEUE_TYPE_ACTIVITY,
}
LOOKS = 4
"""So many looks in a row, of which none sees less than the one before, tell growth; the server's own figures are some seconds old."""
REFUSALS = frozenset({RPCStatusCode.PERMISSION_DENIED, RPCStatusCode.UNAUTHENTICATED, RPCStatusCode.UNIMPLEMENTED})
LEAST_RISE = 2
"""A single task may be one that a look met between its coming and its being taken."""
LOOK_TIMEOUT = timedelta(seconds=5)


def is_growing(counts: Sequence[int]) -> bool:
    """Whether these numbers of waiting tasks, oldest first, are LOOKS that rise, by more than a single task."""
    risen = all(a <= b for a, b in pairwise(counts)) and len(counts) == LOOKS
    return risen and counts[-1] - counts[0] >= LEAST_RISE


class Backlog:
    """Looks at one task queue every so often."""

    def __init__(self, client: Client, task_queue: str, metrics: WorkerMetrics) -> None:
        self._client = client
        self._task_queue = task_queue
        self._metrics = metrics
        self._counts: dict[str, deque[int]] = {kind: deque(maxlen=LOOKS) for kind in KINDS}
        self._oldest = dict.fromkeys(KINDS, 0.0)

    async def watch(self, interval: timedelta) -> None:
        """Looks again and again; ends where the server does not tell."""
        while interval:
            try:
                for kind in KINDS:
                    self._note(kind, await self._ask(kind))
            except RPCError as error:
                self._forget()
                if error.status in REFUSALS:
                    log = structlog.get_logger()
                    log.warning("the backlog is not known", action="backlog_untold", error=error.status.name)
                    return
            await asyncio.sleep(interval.total_seconds())

    def remark(self) -> str:
        """Which kinds of tasks become more and more; empty for none."""
        told = [
            f"backlog growing: {counts[-1]} {kind} tasks wait, the oldest for {self._oldest[kind]:.0f} s"
            for kind, counts in self._counts.items()
            if is_growing(counts)
        ]
        return "; ".join(told)

    async def _ask(self, kind: str) -> TaskQueueStats:
        request = DescribeTaskQueueRequest(
            namespace=self._client.namespace,
            task_queue=TaskQueue(name=self._task_queue),
            task_queue_type=KINDS[kind],
            report_stats=True,
        )
        response = await self._client.workflow_service.describe_task_queue(request, timeout=LOOK_TIMEOUT)
        return response.stats

    def _note(self, kind: str, stats: TaskQueueStats) -> None:
        count, age = stats.approximate_backlog_count, stats.approximate_backlog_age.ToTimedelta().total_seconds()
        self._counts[kind].append(count)
        self._oldest[kind] = age
        self._metrics.backlog.labels(self._task_queue, kind).set(count)
        self._metrics.backlog_age.labels(self._task_queue, kind).set(age)

    def _forget(self) -> None:
        """Old figures are worse than none."""
        self._metrics.backlog.clear()
        self._metrics.backlog_age.clear()
        for counts in self._counts.values():
            counts.clear()
