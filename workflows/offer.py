"""Asks whichever worker takes it what it can run: one workflow task, and no trace once the answer has been read."""

from __future__ import annotations

from datetime import timedelta

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from activities.contract import DESCRIBE_OFFER, OFFER_WORKFLOW, OfferQuestion, WorkerOffer


@workflow.defn(name=OFFER_WORKFLOW, sandboxed=False)
class OfferWorkflow:
    """Returns the WorkerOffer of the worker that runs it; whoever starts it deletes it again."""

    @workflow.run
    async def run(self, question: OfferQuestion | None = None) -> WorkerOffer:
        """Asks by a local activity, which cannot go to another worker."""
        offer: WorkerOffer = await workflow.execute_local_activity(
            DESCRIBE_OFFER,
            args=[] if question is None else [question],
            result_type=WorkerOffer,
            start_to_close_timeout=timedelta(seconds=5),
        )
        return offer
