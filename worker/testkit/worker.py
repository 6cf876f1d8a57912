"""The worker of a test: the product's own parts, with stand-ins and faults between them."""

from __future__ import annotations

import logging
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING

from temporalio import activity
from temporalio.exceptions import ApplicationError
from temporalio.worker import Worker

from activities.contract import HANDLER_TIMEOUT, RUN_STEP, StepCall, StepResult
from activities.handlers.calls import Calls
from activities.handlers.session import LateSession
from activities.handlers.table import Handlers, Parts
from activities.steps.attempt import Attempt
from activities.steps.run import StepActivities
from activities.steps.secrets import VARIABLE_PREFIX, SecretStore
from worker.app import SANDBOX
from worker.times import previous_occurrence

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator, Mapping

    from temporalio.client import Client

    from worker.app import Offer
    from worker.testkit.faults import Fault, FaultPlan
    from worker.testkit.stand_ins import StandIns

THREADS = 20


class FaultySteps:
    """Runs steps, and fails those attempts that are to fail."""

    def __init__(self, steps: StepActivities, plan: FaultPlan) -> None:
        self._steps, self._plan = steps, plan

    @activity.defn(name=RUN_STEP)
    async def run_step(self, call: StepCall) -> StepResult:
        """One attempt of a step. Raises ApplicationError, as the product's own activity does."""
        attempt = Attempt(call, call.earlier_attempts + activity.info().attempt, previous_occurrence)
        fault = self._plan.fault_at(attempt.scheduled_at, call.step.name, attempt.number)
        if fault is not None and not fault.after:
            raise self._failure(fault, attempt)
        result = await self._steps.run_step(call)
        if fault is not None:
            raise self._failure(fault, attempt)
        return result

    def _failure(self, fault: Fault, attempt: Attempt) -> ApplicationError:
        """Where the attempt is to run out of time, the next one comes later by that time."""
        step = attempt.call.step
        failure = fault.ending(step.timeout).redacted(attempt).to_failure(attempt)
        if failure.type != HANDLER_TIMEOUT:
            return failure
        if attempt.number >= step.retry.max_attempts:
            self._plan.unspent += step.timeout
            return failure
        later = (failure.next_retry_delay or timedelta(0)) + timedelta(seconds=step.timeout)
        return ApplicationError(failure.message, *failure.details, type=failure.type, next_retry_delay=later)


@asynccontextmanager
async def kit_worker(
    client: Client, queue: str, offer: Offer, stand_ins: StandIns, plan: FaultPlan, secrets: Mapping[str, str]
) -> AsyncIterator[None]:
    """A worker that polls while the block lasts."""
    async with LateSession() as session:
        steps = StepActivities(
            # Whether the test allows commands is checked before.
            handlers=Handlers(Parts(offer.handlers, Calls(), session, allow_commands=True)),
            secrets=SecretStore({VARIABLE_PREFIX + name: value for name, value in secrets.items()}),
            previous_occurrence=previous_occurrence,
            around=stand_ins.around,
        )
        others = [each for each in steps.activities if each != steps.run_step]
        executor = ThreadPoolExecutor(THREADS, thread_name_prefix="activity")
        worker = Worker(
            client,
            task_queue=queue,
            workflows=offer.workflows,
            activities=[FaultySteps(steps, plan).run_step, *others, *offer.activities],
            activity_executor=executor,
            workflow_runner=SANDBOX,
        )
        try:
            with _quiet():
                async with worker:
                    yield
        finally:
            executor.shutdown(wait=False, cancel_futures=True)


@contextmanager
def _quiet() -> Iterator[None]:
    """Without the SDK's traceback of each attempt that fails: what counts stands in the outcome."""
    logger = logging.getLogger("temporalio.activity")
    logger.addFilter(_tells_news)
    try:
        yield
    finally:
        logger.removeFilter(_tells_news)


def _tells_news(record: logging.LogRecord) -> bool:
    return not str(record.msg).startswith("Completing activity as failed")
