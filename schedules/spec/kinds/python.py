"""`python`: a function of the user's. `activities/handlers/python.py` calls it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import Field

from schedules.spec.kinds.kind import KindSpec, Need, of_modules

if TYPE_CHECKING:
    from collections.abc import Iterator
    from collections.abc import Set as AbstractSet

    from activities.errors import Problem
    from activities.registry import HandlerRegistry


class PythonSpec(KindSpec):
    """A function registered with `@handler` in a module that the worker loads."""

    handler: str = Field(
        min_length=1, description="Name that the function is registered under.", examples=["delete-old-rows"]
    )
    params: dict[str, Any] = Field(
        default_factory=dict, description="Parameters; checked against the function's model."
    )

    def described(self) -> str:
        """See KindSpec."""
        return f"python `{self.handler}`"

    @classmethod
    def find_problems(
        cls, params: dict[str, Any], outputs: AbstractSet[str], registry: HandlerRegistry | None
    ) -> Iterator[Problem]:
        """See KindSpec."""
        yield from super().find_problems(params, outputs, registry)
        if registry is not None:
            yield from registry.check_params(params["handler"], params.get("params", {}))

    @classmethod
    def need(cls, params: dict[str, Any]) -> Need:
        """See KindSpec."""
        return of_modules("handler", params["handler"], lambda offer: offer.handlers)
