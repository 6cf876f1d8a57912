"""Runs given occurrences of a job: one after another, or side by side where the job allows that."""

from __future__ import annotations

import asyncio
from dataclasses import asdict, replace
from datetime import timedelta

from temporalio import workflow
from temporalio.common import RetryPolicy
from temporalio.exceptions import ActivityError, ApplicationError

with workflow.unsafe.imports_passed_through():
    from activities.contract import (
        ASK_FOR_OCCURRENCE,
        ASKED_MEMO,
        BACKFILL_WORKFLOW,
        LOOK_AT_OCCURRENCE,
        NO_SUCH_TIME,
        PROGRESS_MEMO,
        REPEAT_MEMO,
        UNCERTAIN,
        BackfillProgress,
        BackfillRequest,
        OccurrenceAsk,
        OccurrenceLook,
        OccurrenceSeen,
        Repeat,
    )
    from activities.late.decision import instant

SIDE_BY_SIDE = 5
"""Occurrences at a time where the job allows any number."""
FAILURES_TOLD = 20
FIRST_WAIT, LONGEST_WAIT, SLOWER = 0.5, 10.0, 1.3
LOST_AFTER = timedelta(seconds=15)
"""For so long nothing waits and there is no run: then what was asked for may be lost, whatever else runs."""
REQUEST_ATTEMPTS = 20
NOT_STARTED = frozenset({UNCERTAIN, NO_SUCH_TIME})
ANOTHER_ID = "another_id"
"""Type of the ApplicationError that ends a backfill whose schedule starts another occurrence than the one asked for."""
QUEUES, LOST_IN_RUNS = "queues-behind-a-job-that-is-never-idle", "lost-while-others-run"
REPEATS = "repeats-behind-a-job-that-is-never-idle"
"""Patches: a backfill that began before them goes on as it began."""
RETRY = RetryPolicy(initial_interval=timedelta(seconds=1), maximum_interval=timedelta(seconds=30))


@workflow.defn(name=BACKFILL_WORKFLOW, sandboxed=False)
class BackfillWorkflow:
    """The backfill of one job. The schedule starts the runs, so that its overlap policy holds between them and its own.

    Cancelled, it starts no others; what is running goes on.
    """

    def __init__(self) -> None:
        self._pending: dict[str, asyncio.Task[None]] = {}

    @workflow.run
    async def run(self, request: BackfillRequest) -> BackfillProgress:
        """Returns how it went. Raises ApplicationError where the schedule is gone."""
        self._request, self._progress, self._last_start = request, request.so_far, request.last_start
        left = list(request.times)
        self._show([])
        while left:
            if workflow.info().is_continue_as_new_suggested():
                await asyncio.gather(*self._pending.values())
                workflow.continue_as_new(
                    replace(request, times=left, so_far=self._progress, last_start=self._last_start)
                )
            await self._room()
            await self._begin(left[0])
            del left[0]
        await asyncio.gather(*self._pending.values())
        self._show([])
        return self._progress

    async def _room(self) -> None:
        """Waits until another may start. Raises what ended a wait for a run."""
        while len(self._pending) >= (SIDE_BY_SIDE if self._request.side_by_side else 1):
            await workflow.wait(list(self._pending.values()), return_when=asyncio.FIRST_COMPLETED)
            for at in [at for at, task in self._pending.items() if task.done()]:
                await self._pending.pop(at)

    async def _begin(self, at: str) -> None:
        """Starts the occurrence, and leaves its end to be waited for.

        It waits until nothing of the job runs. Where runs follow one another without a gap, the schedule queues it between them.
        """
        before, wait, queued = await self._look(at), FIRST_WAIT, False
        first = before.running
        while before.running and not self._request.side_by_side and not self._is_settled(before):
            queued = before.running != first and self._may_queue(at)
            if queued:
                break
            self._tell(f"waits for {before.running} to end")
            wait = await _pause(wait)
            before = await self._look(at)
        if self._is_settled(before):
            self._progress = replace(self._progress, left_out=self._progress.left_out + 1)
            return
        await self._keep_pace()
        self._show([*(other for other, task in self._pending.items() if not task.done()), at])
        try:
            seen = await self._start(at, before, by_hand=bool(self._request.rerun) and not queued)
        except ActivityError as error:
            if not isinstance(error.cause, ApplicationError) or error.cause.type not in NOT_STARTED:
                raise
            self._fail(at, error.cause.message)
            return
        self._pending[at] = asyncio.create_task(self._end(at, seen))

    def _may_queue(self, at: str) -> bool:
        """Whether the schedule can start it; a repetition only where its run then asks what it is, since it is late."""
        if not self._request.rerun:
            return workflow.patched(QUEUES)
        late_after = self._request.late_after
        if late_after is None or (workflow.now() - instant(at)).total_seconds() <= late_after:
            return False
        return workflow.patched(REPEATS)

    def _is_settled(self, seen: OccurrenceSeen) -> bool:
        """Whether there is nothing to do: it has succeeded since the backfill was asked for, or runs."""
        if self._request.rerun:
            return False
        return seen.outcome == "succeeded" or bool(seen.run_id and not seen.outcome)

    async def _start(self, at: str, before: OccurrenceSeen, *, by_hand: bool) -> OccurrenceSeen:
        """The run, once there is one; it may have to wait behind one that the schedule has started meanwhile."""
        number, wait, idle_since, unqueued_since = 0, FIRST_WAIT / 5, workflow.now(), workflow.now()
        await self._ask(at, before, number, by_hand=by_hand)
        while True:
            wait = await _pause(wait)
            seen = await self._look(at)
            if seen.run_id and seen.run_id != before.run_id:
                return seen
            if others := set(seen.near).difference(before.near):
                message = f"{self._id(at)} was asked for, and the schedule started {', '.join(sorted(others))}"
                raise ApplicationError(message, type=ANOTHER_ID, non_retryable=True)
            now = workflow.now()
            if seen.waiting:
                idle_since = unqueued_since = now
            elif seen.running and not self._request.side_by_side:
                idle_since = now
            if now - idle_since > LOST_AFTER or (now - unqueued_since > LOST_AFTER and workflow.patched(LOST_IN_RUNS)):
                number, idle_since, unqueued_since = number + 1, now, now
                await self._ask(at, before, number, by_hand=by_hand)

    async def _end(self, at: str, seen: OccurrenceSeen) -> None:
        wait = FIRST_WAIT
        while not seen.outcome:
            wait = await _pause(wait)
            seen = await self._look(at)
        if seen.outcome == "succeeded":
            self._progress = replace(self._progress, succeeded=self._progress.succeeded + 1)
        else:
            self._fail(at, seen.outcome + (f": {seen.reason}" if seen.reason else ""))
        self._show([other for other, task in self._pending.items() if other != at and not task.done()])

    def _fail(self, at: str, why: str) -> None:
        failures = [*self._progress.failures, f"{self._id(at)}: {why}"][:FAILURES_TOLD]
        self._progress = replace(self._progress, failed=self._progress.failed + 1, failures=failures)

    async def _look(self, at: str) -> OccurrenceSeen:
        seen: OccurrenceSeen = await workflow.execute_local_activity(
            LOOK_AT_OCCURRENCE,
            OccurrenceLook(self._request.schedule, self._id(at)),
            result_type=OccurrenceSeen,
            start_to_close_timeout=timedelta(seconds=20),
            retry_policy=RETRY,
        )
        return seen

    async def _ask(self, at: str, before: OccurrenceSeen, number: int, *, by_hand: bool) -> None:
        """An activity and not a local one: what this workflow says of itself must be on the server before the run starts."""
        info = workflow.info()
        await workflow.execute_activity(
            ASK_FOR_OCCURRENCE,
            OccurrenceAsk(
                schedule=self._request.schedule,
                workflow_id=self._id(at),
                scheduled_at=at,
                by=info.workflow_id,
                request_id=f"{info.run_id}-{at}-{number}",
                before=before.run_id,
                side_by_side=self._request.side_by_side,
                rerun=self._request.rerun if by_hand else "",
                params=self._request.params,
                version=before.version,
                number=number,
            ),
            start_to_close_timeout=timedelta(seconds=40),
            retry_policy=RetryPolicy(maximum_interval=timedelta(seconds=30), maximum_attempts=REQUEST_ATTEMPTS),
            summary=at,
        )

    async def _keep_pace(self) -> None:
        if self._last_start and self._request.interval:
            since = (workflow.now() - instant(self._last_start)).total_seconds()
            if since < self._request.interval:
                await workflow.sleep(self._request.interval - since)
        self._last_start = workflow.now().isoformat()

    def _show(self, asked: list[str]) -> None:
        memo = {ASKED_MEMO: asked, PROGRESS_MEMO: asdict(self._progress)}
        if self._request.rerun:
            memo[REPEAT_MEMO] = asdict(Repeat(self._request.rerun, self._request.params))
        workflow.upsert_memo(memo)
        self._tell(", ".join(map(self._id, asked)) or "nothing runs")

    def _tell(self, what: str) -> None:
        done = self._progress
        workflow.set_current_details(
            f"{done.done} of {done.total}: {done.succeeded} succeeded, {done.failed} failed; {what}"
        )

    def _id(self, at: str) -> str:
        return f"{self._request.prefix}{at}"


async def _pause(seconds: float) -> float:
    """Waits so long; how long to wait the next time."""
    await workflow.sleep(seconds)
    return min(seconds * SLOWER, LONGEST_WAIT)
