"""Sends one notice to several addresses: what a job's incident does not tell."""

from __future__ import annotations

import asyncio

from temporalio import workflow
from temporalio.exceptions import ApplicationError

with workflow.unsafe.imports_passed_through():
    from activities.notices.contract import NOTICE_WORKFLOW, Post
    from workflows.outbox import Outbox


@workflow.defn(name=NOTICE_WORKFLOW, sandboxed=False)
class NoticeWorkflow:
    """Ends once every address has taken the notice; fails with those that did not."""

    @workflow.run
    async def run(self, post: Post) -> None:
        """Sends; see Outbox for how long."""
        sending = Outbox(post.attempts).post(post.notice, post.targets, post.key)
        not_taken = [reason for reason in await asyncio.gather(*sending) if reason]
        if not_taken:
            raise ApplicationError("; ".join(not_taken), type="not_delivered", non_retryable=True)
