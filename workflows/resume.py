"""Ends a pause at a time that was given with it: a timer of Temporal's own, which no process has to live through."""

from __future__ import annotations

from datetime import timedelta

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from activities.contract import RESUME_SCHEDULE, RESUME_WORKFLOW, ResumeOrder
    from activities.late.decision import instant


@workflow.defn(name=RESUME_WORKFLOW, sandboxed=False)
class ResumeWorkflow:
    """One for each job that is paused until a time; another pause replaces it, and `resume` ends it."""

    @workflow.run
    async def run(self, order: ResumeOrder) -> str:
        """Waits, and says what was done."""
        workflow.set_current_details(
            f"{order.schedule} is resumed at {order.at}, if it is still paused as: {order.note}"
        )
        left = instant(order.at) - workflow.now()
        if left > timedelta(0):
            await workflow.sleep(left, summary=f"until {order.at}")
        done: str = await workflow.execute_activity(
            RESUME_SCHEDULE, order, result_type=str, start_to_close_timeout=timedelta(seconds=30)
        )
        workflow.set_current_details(done)
        return done
