"""A user's own workflow; in a module of its own, which the SDK's sandbox imports anew."""

from __future__ import annotations

from datetime import timedelta

from temporalio import workflow
from temporalio.exceptions import ApplicationError


@workflow.defn
class Child:
    """Does as its first argument says: fails, waits for a month, or else gives back all of them."""

    @workflow.run
    async def run(self, what: str, *more: str) -> list[str]:
        if what == "fail":
            raise ApplicationError("the books do not balance", type="Unbalanced")
        if what == "fail-oddly":
            raise ApplicationError("odd", {"attempt": "first"}, type="handler_failed", non_retryable=True)
        if what == "fail-at-length":
            raise ApplicationError("x" * 100_000)
        if what == "fail-twice" and workflow.info().attempt < 3:
            raise ApplicationError("not yet")
        if what == "answer-at-length":
            return ["x" * 100_000]
        if what == "wait":
            await workflow.sleep(timedelta(days=30))
        return [what, *more]
