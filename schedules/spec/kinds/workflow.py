"""`workflow`: a workflow of the user's, run as a child. `workflows/steps.py` starts it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from pydantic import Field

from activities.steps.secrets import refuse_secrets
from activities.steps.template import STABLE_NAMES, check
from schedules.spec.direct import DirectSpec
from schedules.spec.fields import Items
from schedules.spec.kinds.kind import KindSpec, Need, of_modules

if TYPE_CHECKING:
    from collections.abc import Iterator
    from collections.abc import Set as AbstractSet

    from activities.errors import Problem
    from activities.registry import HandlerRegistry


class WorkflowSpec(KindSpec):
    """Your own workflow type, run as a child of the job's run, or instead of it with `direct`."""

    child: ClassVar[bool] = True

    type: str = Field(min_length=1, description="Name of the workflow type.", examples=["Reconcile"])
    args: Items[Any] = Field(default=(), description="Arguments, in order.")
    direct: DirectSpec | None = Field(
        default=None, description="The schedule starts the workflow itself, with these settings; `{}` for the defaults."
    )

    def described(self) -> str:
        """See KindSpec."""
        return f"workflow `{self.type}`"

    @classmethod
    def find_problems(
        cls, params: dict[str, Any], outputs: AbstractSet[str], registry: HandlerRegistry | None
    ) -> Iterator[Problem]:
        """See KindSpec. Arguments are stored in the history of the child, and are the same in every attempt."""
        del registry
        yield from check(params, STABLE_NAMES | outputs)
        yield from refuse_secrets(params)

    @classmethod
    def need(cls, params: dict[str, Any]) -> Need:
        """See KindSpec."""
        return of_modules("workflow type", params["type"], lambda offer: offer.workflows)
