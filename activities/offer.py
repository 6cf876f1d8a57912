"""What this worker can run, for those who are about to give it work."""

from __future__ import annotations

from typing import TYPE_CHECKING

from temporalio import activity

from activities.contract import (
    DESCRIBE_OFFER,
    OFFERED_ELSEWHERE,
    OfferQuestion,
    RetryRequest,
    StepRequest,
    WorkerOffer,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from activities.steps.fitness import Fitness, OthersFirst


class OfferActivities:
    """Answers for the worker of that identity; `keys` are the ids of those it can decrypt with."""

    def __init__(self, fitness: Fitness, others: OthersFirst, worker: str, keys: Iterable[str] = ()) -> None:
        self._fitness = fitness
        self._others = others
        self._worker = worker
        self._keys = sorted(keys)

    @property
    def activities(self) -> list[Callable[..., Any]]:
        """Both activities, for `Worker(activities=…)`."""
        return [self.describe_offer, self.offered_elsewhere]

    @activity.defn(name=DESCRIBE_OFFER)
    async def describe_offer(self, question: OfferQuestion | None = None) -> WorkerOffer:
        """The offer, with the answers to the question."""
        asked, fitness = question or OfferQuestion(), self._fitness
        return WorkerOffer(
            fitness.parts.registry.names,
            sorted(fitness.parts.workflows),
            self._keys,
            self._worker,
            fitness.parts.allow_commands,
            fitness.missing(asked.secrets),
            fitness.problem(asked.step) if asked.step else "",
            await fitness.troubles(asked.trials),
            fitness.kinds(asked.kinds),
            fitness.parts.containers.allowed,
            list(fitness.parts.kubernetes_namespaces),
        )

    @activity.defn(name=OFFERED_ELSEWHERE)
    async def offered_elsewhere(self, workflow_type: str) -> bool:
        """Whether another worker of the task queue knows the workflow type, or may know it."""
        step = StepRequest("child", "workflow", {"type": workflow_type}, 0.0, 0.0, RetryRequest())
        return await self._others.offered(activity.info().task_queue, step)
