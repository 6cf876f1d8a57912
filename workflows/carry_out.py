"""Carries out the steps of an occurrence in their order, side by side where that allows it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from datetime import datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from activities.contract import BACKSTOP, StepResult
    from workflows.counting import count_step
    from workflows.step_order import FAILED
    from workflows.steps import Ended, end_of

if TYPE_CHECKING:
    from activities.contract import StepRequest
    from workflows.occurrence import Occurrence
    from workflows.step_order import Order
    from workflows.steps import Limit


class Course:
    """The steps of one occurrence under way. `failed` is the first that failed while nobody had cancelled the run."""

    def __init__(self, occurrence: Occurrence, order: Order) -> None:
        self.failed: Ended | None = None
        self._occurrence = occurrence
        self._order = order
        self._running: dict[asyncio.Task[Ended], StepRequest] = {}
        self._begun: dict[str, datetime] = {}

    async def carry_out(self) -> None:
        """Returns once every step has ended. A cancellation of the run stops steps and keeps others from starting; it raises nothing."""
        while True:
            self._start_what_is_due()
            if not self._running:
                return
            self._show()
            if await cancelled_while_waiting(self._running):
                self._order.cancelled = True
                for task, step in self._running.items():
                    if step.when == "on_success":
                        task.cancel()
            for task in [task for task in self._running if task.done()]:
                self._end(self._running.pop(task), task)

    def _start_what_is_due(self) -> None:
        for due in self._order.due():
            step = due.step
            if due.left_out:
                self._occurrence.results[step.name] = StepResult(step.name, None, 0, 0.0, "skipped", due.left_out)
                continue
            limit = _limit(self._occurrence, step)
            ending = end_of(self._occurrence, step, limit, stoppable=partial(self._is_stopped, step))
            self._running[asyncio.create_task(ending)] = step
            self._begun[step.name] = workflow.now()

    def _is_stopped(self, step: StepRequest) -> bool:
        return self._order.cancelled and step.when == "on_success"

    def _end(self, step: StepRequest, task: asyncio.Task[Ended]) -> None:
        if task.cancelled():  # before it had begun
            ended = Ended(StepResult(step.name, None, 0, 0.0, "skipped", "the run was cancelled"))
            self._order.cut_short = True
        else:
            ended = task.result()
        self._occurrence.results[step.name] = ended.result
        self._order.end(step.name, ended.result.outcome)
        count_step(self._occurrence.request.job, step.name, workflow.now() - self._begun[step.name])
        if ended.result.outcome in FAILED and self.failed is None and not self._order.cancelled:
            self.failed = ended

    def _show(self) -> None:
        steps, running = self._occurrence.request.steps, list(self._running.values())
        if len(steps) == 1:
            told = (
                f"Step {steps[0].name} ({steps[0].handler}) of the run scheduled for {self._occurrence.scheduled_at}."
            )
        else:
            names = ", ".join(step.name for step in steps if step in running)
            told = f"{len(self._order.ended)} of {len(steps)}, running: {names}"
        workflow.set_current_details(told)


async def cancelled_while_waiting(tasks: Iterable[asyncio.Task[Any]]) -> bool:
    """Waits until one of the tasks is done, or until the run is cancelled, which leaves the tasks alone."""
    try:
        await workflow.wait(list(tasks), return_when=asyncio.FIRST_COMPLETED)
    except asyncio.CancelledError:
        return True
    return False


def _limit(occurrence: Occurrence, step: StepRequest) -> Limit:
    """The deadline ends a step; one that cleans up after others is given one attempt in any case."""
    if step.when == "on_success":
        return occurrence.remaining
    return lambda: occurrence.remaining(timedelta(seconds=step.timeout + BACKSTOP))
