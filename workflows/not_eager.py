"""Sends a step that was given back through its task queue, so that another worker may take it.

The server would hand it to the worker of the run at once ("eager execution"), which is most often the one that gave it back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from temporalio.worker import (
    Interceptor,
    WorkflowInboundInterceptor,
    WorkflowInterceptorClassInput,
    WorkflowOutboundInterceptor,
)

from activities.contract import StepCall

if TYPE_CHECKING:
    from temporalio.worker import StartActivityInput
    from temporalio.workflow import ActivityHandle


class NotEager(Interceptor):
    """For the workflows of one worker."""

    def workflow_interceptor_class(
        self,
        input: WorkflowInterceptorClassInput,  # noqa: A002, ARG002 - the SDK's name
    ) -> type[WorkflowInboundInterceptor] | None:
        """Called by the SDK for each run."""
        return _Inbound


class _Inbound(WorkflowInboundInterceptor):
    def init(self, outbound: WorkflowOutboundInterceptor) -> None:
        super().init(_Outbound(outbound))


class _Outbound(WorkflowOutboundInterceptor):
    def start_activity(self, input: StartActivityInput) -> ActivityHandle[Any]:  # noqa: A002 - the SDK's name
        if input.args and isinstance(input.args[0], StepCall) and input.args[0].given_back:
            input.disable_eager_execution = True
        return super().start_activity(input)
