"""Whether a worker can run a step, and whether another worker of the task queue can where it cannot."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from activities.contract import OfferQuestion, StepRequest
from activities.errors import HandlerError
from activities.handlers.table import Trying
from activities.steps.redact import Redactor
from activities.steps.template import render, secrets_used

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from activities.contract import Trial, WorkerOffer
    from activities.handlers.table import Handlers, Parts
    from activities.steps.secrets import SecretStore

TRIAL_SECONDS = 5.0
"""For one trial; who asks waits for ten."""
GiveBack = Callable[[str, StepRequest], Awaitable[str]]
"""Why a step of the task queue is given back for another worker; empty to run it here."""
AskOthers = Callable[[str, OfferQuestion], Awaitable["Sequence[WorkerOffer | None]"]]
"""What the workers of a task queue answer to the question; None for each that polls and does not answer."""


async def keep(_queue: str, _step: StepRequest) -> str:
    """Gives nothing back."""
    return ""


class Fitness:
    """What one worker can run."""

    def __init__(self, handlers: Handlers, secrets: SecretStore) -> None:
        self._handlers = handlers
        self._secrets = secrets

    @property
    def parts(self) -> Parts:
        """What the handlers of the worker were given."""
        return self._handlers.parts

    def missing(self, secrets: Collection[str]) -> list[str]:
        """The names of those that cannot be used here."""
        return [name for name in secrets if self._unusable(name)]

    def kinds(self, asked: Collection[str]) -> list[str]:
        """Those of which this worker has the handler."""
        return [kind for kind in asked if self._handlers.has(kind)]

    def problem(self, step: StepRequest) -> str:
        """Why this worker cannot run the step, empty where it can; what templates will fill in counts as right."""
        try:
            problem = self._handlers.of(step.handler).problem(step.params)
        except HandlerError as error:
            return error.message
        return problem or next(filter(None, (self._unusable(name) for _, name in secrets_used(step.params))), "")

    async def troubles(self, trials: Sequence[Trial]) -> list[str]:
        """What each trial met, without secrets; empty for nothing."""
        return list(await asyncio.gather(*map(self._trouble, trials)))

    async def _trouble(self, trial: Trial) -> str:
        if self.missing([name for _, name in secrets_used(trial.params)]):
            return ""  # The secret is told as missing.
        redactor = Redactor(self._secrets.forms())

        def secret(name: str) -> str:
            redactor.add(value := self._secrets.resolve(name), name)
            return value

        try:
            handler = self._handlers.of(trial.handler)
            if not isinstance(handler, Trying):
                return ""
            async with asyncio.timeout(TRIAL_SECONDS):
                return redactor.text(await handler.trial(render(trial.params, {}, secret)))
        except HandlerError as error:
            return redactor.text(error.message)
        except TimeoutError:
            return f"no answer within {TRIAL_SECONDS:g} s"
        except Exception as error:  # noqa: BLE001  whatever it is, the step would meet it, too
            return redactor.text(f"{type(error).__name__}: {error}")

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
