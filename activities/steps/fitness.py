"""Whether a worker can run a step, and whether another worker of the task queue can where it cannot."""

from __future__ import annotations

import shutil
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from activities.contract import OfferQuestion, StepRequest
from activities.errors import HandlerError
from activities.steps.template import is_dynamic, secrets_used

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from activities.contract import WorkerOffer
    from activities.registry import HandlerRegistry
    from activities.steps.secrets import SecretStore

GiveBack = Callable[[str, StepRequest], Awaitable[str]]
"""Why a step of the task queue is given back for another worker; empty to run it here."""
AskOthers = Callable[[str, OfferQuestion], Awaitable["Sequence[WorkerOffer | None]"]]
"""What the workers of a task queue answer to the question; None for each that polls and does not answer."""


async def keep(_queue: str, _step: StepRequest) -> str:
    """Gives nothing back."""
    return ""


class Fitness:
    """What one worker can run."""

    def __init__(
        self, registry: HandlerRegistry, secrets: SecretStore, *, commands: bool, workflows: Collection[str]
    ) -> None:
        """`commands` says whether they are allowed, `workflows` are the types that it knows."""
        self.registry = registry
        self.commands = commands
        self.workflows = workflows
        self._secrets = secrets

    def missing(self, secrets: Collection[str]) -> list[str]:
        """The names of those that cannot be used here."""
        return [name for name in secrets if self._unusable(name)]

    def problem(self, step: StepRequest) -> str:
        """Why this worker cannot run the step, empty where it can; what templates will fill in counts as right."""
        if problem := self._of_kind(step):
            return problem
        return next(filter(None, (self._unusable(name) for _, name in secrets_used(step.params))), "")

    def _of_kind(self, step: StepRequest) -> str:
        match step.handler:
            case "http":
                return ""
            case "python":
                problems = self.registry.check_params(step.params["handler"], step.params.get("params", {}))
                return "; ".join(problem.message for problem in problems)
            case "command":
                return self._of_command(step.params)
            case "workflow":
                kind = step.params["type"]
                return "" if kind in self.workflows else f"no workflow type `{kind}` on this worker"
        return f"this worker has no handler `{step.handler}`"

    def _of_command(self, params: dict[str, Any]) -> str:
        if not self.commands:
            return "commands are not allowed on this worker"
        program = params["argv"][0]
        elsewhere = params.get("shell") or params.get("cwd") or "PATH" in params.get("env", {}) or is_dynamic(program)
        return "" if elsewhere or shutil.which(program) else f"there is no program `{program}` on this worker"

    def _unusable(self, secret: str) -> str:
        try:
            self._secrets.resolve(secret)
        except HandlerError as error:
            return error.message
        return ""


class OthersFirst:
    """Gives back what this worker cannot run, unless it is proven that no other worker of the queue can."""

    def __init__(self, fitness: Fitness, ask: AskOthers) -> None:
        self._fitness = fitness
        self._ask = ask

    async def __call__(self, queue: str, step: StepRequest) -> str:
        """See GiveBack."""
        problem = self._fitness.problem(step)
        return problem if problem and await self.offered(queue, step) else ""

    async def offered(self, queue: str, step: StepRequest) -> bool:
        """Whether a worker of the queue can run the step, or may: one that does not answer is no proof."""
        answers = await self._ask(queue, OfferQuestion(step))
        return any(answer is None or not answer.problem for answer in answers)
