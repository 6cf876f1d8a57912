"""The `workflow` handler as far as a worker is concerned: Temporal runs the step as a child workflow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from activities.errors import HandlerError

if TYPE_CHECKING:
    from activities.handlers.table import Parts
    from activities.steps.attempt import Attempt


class WorkflowHandler:
    """Runs nothing itself: it says whether the worker knows the workflow type."""

    def __init__(self, parts: Parts) -> None:
        self._types = parts.workflows

    def problem(self, params: dict[str, Any]) -> str:
        """See Handler."""
        kind = params["type"]
        return "" if kind in self._types else f"no workflow type `{kind}` on this worker"

    async def run(self, params: dict[str, Any], attempt: Attempt) -> Any:
        """Raises a permanent HandlerError."""
        del params, attempt
        raise HandlerError("`workflow` is no handler that an activity runs", permanent=True)


HANDLER = WorkflowHandler
