"""Remembers which builds of a task queue's workers have come up, so that `@reboot` jobs run once for each."""

from __future__ import annotations

from datetime import timedelta

from temporalio import workflow
from temporalio.common import RetryPolicy
from temporalio.exceptions import ActivityError

with workflow.unsafe.imports_passed_through():
    from activities.contract import BUILDS_WORKFLOW, START_REBOOT_RUNS, NewBuild
    from activities.occurrence import stamp

REMEMBERED = 1_000
"""Builds, the newest of them: an older one that came back would count as new."""
TRIES = 60
"""Over about an hour in which a worker is there."""
FIRST_WAIT, LONGEST_WAIT = timedelta(seconds=1), timedelta(minutes=1)


@workflow.defn(name=BUILDS_WORKFLOW, sandboxed=False)
class BuildsWorkflow:
    """One for each task queue, open for good: each worker that starts signals its build.

    Its history, and not that of the runs, is what makes a build count once, however long ago it came up: runs are
    forgotten after the namespace's retention.
    """

    def __init__(self) -> None:
        self._seen: list[str] = []
        self._waiting: list[str] = []

    @workflow.run
    async def run(self, seen: list[str]) -> None:
        """Takes one build after another; `seen` are those known so far, oldest first."""
        self._seen = seen
        while self._waiting or not workflow.info().is_continue_as_new_suggested():
            await workflow.wait_condition(lambda: bool(self._waiting))
            await self._take(self._waiting[0])
            del self._waiting[0]
        workflow.continue_as_new(self._seen)

    @workflow.signal
    def came_up(self, build_id: str) -> None:
        """A worker of this build has started."""
        self._waiting.append(build_id)

    async def _take(self, build_id: str) -> None:
        if build_id in self._seen:
            return
        try:
            await workflow.execute_activity(
                START_REBOOT_RUNS,
                NewBuild(build_id, workflow.info().task_queue, stamp(workflow.now())),
                start_to_close_timeout=timedelta(minutes=5),
                retry_policy=RetryPolicy(
                    initial_interval=FIRST_WAIT, maximum_interval=LONGEST_WAIT, maximum_attempts=TRIES
                ),
                summary=build_id,
            )
        except ActivityError as error:  # One job that cannot be started must not keep later builds waiting.
            workflow.logger.error(
                "not all @reboot jobs started", extra={"build_id": build_id, "reason": str(error.cause)}
            )
        self._seen = [*self._seen, build_id][-REMEMBERED:]
