"""Handlers and a workflow that leave a mark in all that Temporal stores of a job: a module of workers."""

from __future__ import annotations

from pydantic import BaseModel
from temporalio import workflow
from temporalio.exceptions import ApplicationError

from activities import HandlerError, JobContext, handler


class Mark(BaseModel):
    mark: str


@handler("fails-then-answers")
def fails_then_answers(params: Mark, context: JobContext) -> dict[str, str]:
    context.heartbeat({"at": f"{params.mark}-heartbeat"})
    if context.attempt == 1:
        raise HandlerError(f"{params.mark}-error", details={"seen": f"{params.mark}-evidence"})
    return {"answer": f"{params.mark}-output"}


@handler("breaks")
def breaks(params: Mark) -> None:
    raise RuntimeError(f"{params.mark}-exception")


@handler("hangs")
def hangs(params: Mark, context: JobContext) -> None:
    context.heartbeat({"at": f"{params.mark}-heartbeat"})
    context.cancelled.wait()


@handler("answers-at-length")
def answers_at_length() -> str:
    return "😀" * 100_000


@workflow.defn
class PrivateChild:
    @workflow.run
    async def run(self, mark: str, verb: str) -> str:
        if verb == "fail":
            raise ApplicationError(f"{mark}-child-error", f"{mark}-child-details")
        return f"{mark}-child-output"
