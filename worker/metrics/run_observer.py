"""Lends the workflows of this worker the function that counts their runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from temporalio.worker import Interceptor, WorkflowInboundInterceptor, WorkflowInterceptorClassInput

from activities.observe import RUN_OBSERVER

if TYPE_CHECKING:
    from activities.observe import RunObserver


class RunsObserved(Interceptor):
    """The function is called outside of the workflow's sandbox, and leaves nothing in its history."""

    def __init__(self, observer: RunObserver) -> None:
        self._observer = observer

    def workflow_interceptor_class(
        self,
        input: WorkflowInterceptorClassInput,  # noqa: A002 - the SDK's name
    ) -> type[WorkflowInboundInterceptor] | None:
        """Called by the SDK for each run; none is needed but to lend the function."""
        input.unsafe_extern_functions[RUN_OBSERVER] = self._observer
        return None
