"""The base of each kind of handler; the kinds are the files beside this one, their table is `schedules/spec/handlers.py`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from activities.steps.template import NAMES, check
from schedules.spec.fields import Spec

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator
    from collections.abc import Set as AbstractSet

    from activities.contract import WorkerOffer
    from activities.errors import Problem
    from activities.registry import HandlerRegistry


@dataclass(frozen=True)
class Need:
    """A requirement of a step on its worker, and the advice for a worker that lacks it."""

    name: str
    #: The names of this sort that a worker offers.
    offered: Callable[[WorkerOffer], Collection[str]] = field(compare=False)
    #: How a message begins: "no handler `x`".
    lack: str
    #: How it ends: "start it with …".
    advice: str
    #: The setting that gives it to a worker, if one does.
    setting: str = ""
    #: Whether a module of the user's brings it.
    of_module: bool = False


def of_modules(what: str, name: str, offered: Callable[[WorkerOffer], Collection[str]]) -> Need:
    """The need of something that the user's modules bring."""
    return Need(
        name, offered, f"no {what} `{name}`", "is its module in the worker's TICKWRIGHT_MODULES?", of_module=True
    )


def of_kind(kind: str) -> Need:
    """The need of the handler itself, which a worker of an earlier version may lack, or one without its package."""
    advice = "install the version, or the package, that has it"
    return Need(kind, lambda offer: offer.kinds, f"no handler for `{kind}` steps", advice)


class KindSpec(Spec):
    """One kind of handler: its keys in a spec, what they compile to, and what can be said of that before it runs."""

    #: The field that a list in place of the mapping stands for; empty for none.
    list_means: ClassVar[str] = ""
    #: Whether Temporal runs the step as a child workflow, and retries it: no activity does.
    child: ClassVar[bool] = False
    #: Where the handler of a kind is that another package brings, as `package.module:Class`; see `Handler`.
    runner: ClassVar[str] = ""

    @classmethod
    def written_out(cls, value: object) -> object:
        """The value with the short form written out as a mapping. Raises ValueError for one that means nothing."""
        return {cls.list_means: value} if cls.list_means and isinstance(value, list | tuple) else value

    def step_params(self) -> dict[str, Any]:
        """The parameters of the step as JSON values, without those that are empty."""
        return {name: value for name, value in self.model_dump(mode="json", by_alias=True).items() if value}

    def described(self) -> str:
        """The kind and what it does, as Markdown in a line."""
        raise NotImplementedError

    @classmethod
    def find_problems(
        cls, params: dict[str, Any], outputs: AbstractSet[str], registry: HandlerRegistry | None
    ) -> Iterator[Problem]:
        """The faults of compiled parameters: of templates, of secrets, and by what the handler takes.

        `outputs` are the template names of the steps that end before; without a registry, user code goes unchecked.
        """
        del registry
        yield from check(params, NAMES | outputs)

    @classmethod
    def trial(cls, params: dict[str, Any]) -> dict[str, Any] | None:
        """Parameters with which a worker tries, before a sync, what a step needs outside of it; None for nothing to try."""
        del params
        return None

    @classmethod
    def need(cls, params: dict[str, Any]) -> Need | None:
        """The requirement on a worker that runs a step with these parameters; None where each worker can."""
        del params
        return None
