"""Takes back what the steps of a run have done that failed or was cancelled."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from activities.contract import StepResult
    from activities.steps.template import outputs_used
    from workflows.carry_out import cancelled_while_waiting
    from workflows.steps import end_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from activities.contract import StepRequest
    from workflows.occurrence import Occurrence

LONGEST_WAIT = 86_400.0
"""Seconds that a compensation waits for a worker."""


async def compensate(occurrence: Occurrence, steps: Sequence[StepRequest]) -> None:
    """Runs the compensations of the steps one after another, all of them whatever becomes of each.

    Neither the run's deadline nor another cancellation ends them: only their own attempts do, and a day without a worker
    that takes one: a run that waits for ever would keep its job from running, and nobody would be told.
    """
    for number, step in enumerate(steps):
        if step.compensate is None:
            continue
        workflow.set_current_details(f"compensating {step.name}, {number} of {len(steps)} done")
        occurrence.undone.append(await _undo(occurrence, step, step.compensate))


async def _undo(occurrence: Occurrence, step: StepRequest, undo: StepRequest) -> StepResult:
    if occurrence.results[step.name].outcome != "succeeded" and step.name in outputs_used(undo.params):
        reason = f"step {step.name} was stopped before it had the output that its compensation needs"
        return StepResult(undo.name, None, 0, 0.0, "skipped", reason)
    undo = replace(undo, start_timeout=LONGEST_WAIT)
    task = asyncio.create_task(end_of(occurrence, undo, lambda: None))
    while not task.done():
        await cancelled_while_waiting([task])
    return task.result().result
