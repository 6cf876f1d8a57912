"""The activities: one that runs a step, one that fills in the arguments of a `workflow` step."""

from __future__ import annotations

import asyncio
from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING, Any

import structlog
from temporalio import activity

from activities.contract import RENDER_ARGUMENTS, RUN_STEP, StepCall, StepResult
from activities.errors import HandlerError
from activities.observe import StepFinished, StepStarted, unobserved
from activities.steps.attempt import Attempt
from activities.steps.ending import Ending
from activities.steps.fitness import keep
from activities.steps.heartbeats import LIVE, Heartbeats
from activities.steps.log_lines import use_log_lines
from activities.steps.redact import Redactor, use_redactor

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from activities.handlers.table import Handlers, StepHandler
    from activities.observe import Observer
    from activities.steps.attempt import PreviousOccurrence
    from activities.steps.fitness import GiveBack
    from activities.steps.secrets import SecretStore

_log: structlog.stdlib.BoundLogger = structlog.get_logger()
_BEATS_PER_TIMEOUT = 3
_SHORTEST_BEAT = 0.01  # seconds: a timeout of 0 must not keep the loop busy
_LONGEST_PAUSE = 10.0
"""Seconds; the answer to a heartbeat is how a step learns of its cancellation."""


class StepActivities:
    """Runs steps with the parts that the worker gives it. `activities` is what to register."""

    def __init__(
        self,
        *,
        handlers: Handlers,
        secrets: SecretStore,
        previous_occurrence: PreviousOccurrence,
        observer: Observer = unobserved,
        give_back: GiveBack = keep,
        around: Callable[[StepHandler], StepHandler] = lambda handler: handler,
    ) -> None:
        """`give_back` says why a step of a task queue goes to another worker; `around` puts something between the steps and each handler."""
        self._handlers = handlers
        self._around = around
        self._secrets = secrets
        self._previous_occurrence = previous_occurrence
        self._observer = observer
        self._give_back = give_back

    @property
    def activities(self) -> list[Callable[..., Any]]:
        """Both activities, for `Worker(activities=…)`."""
        return [self.run_step, self.render_arguments]

    @activity.defn(name=RUN_STEP)
    async def run_step(self, call: StepCall) -> StepResult:
        """One attempt of a step, at most `step.timeout` seconds long.

        Raises ApplicationError of type `handler_failed`, `handler_timeout`, `worker_shutdown` when the worker drains under
        it, or `not_offered` when only another worker of the queue can run it; the next attempt follows after the step's back-off or, if later, when the handler's answer
        asked for it (`Retry-After`). Raises CancelledError when the run is cancelled. No secret is in any of them.
        """
        attempt, heart = self._begin(call)
        with _run_fields(attempt):
            began = monotonic()
            self._observer(StepStarted(call.job, call.step.name, call.step.handler, attempt.number))
            _log.info("step started", action="step_started", handler=call.step.handler)
            ending = (await self._end(attempt, heart)).with_log(attempt).redacted(attempt)
            duration = monotonic() - began
            self._tell(attempt, ending, duration)
        if ending.outcome == "succeeded":
            return StepResult(
                call.step.name,
                ending.output,
                attempt.number,
                round(duration, 3),
                reason=attempt.note,
                altered=ending.altered,
                log=ending.log,
            )
        # Raised here, outside of any `except`: a chained exception would carry what has been redacted.
        raise asyncio.CancelledError if ending.outcome == "cancelled" else ending.to_failure(attempt)

    @activity.defn(name=RENDER_ARGUMENTS)
    async def render_arguments(self, call: StepCall) -> list[Any]:
        """The `args` of a `workflow` step, templates filled in. Raises ApplicationError of type `handler_failed`."""
        attempt, _ = self._begin(call)
        with _run_fields(attempt):
            try:
                return attempt.render_arguments()
            except HandlerError as error:
                ending = Ending.of_error(error).redacted(attempt)
        raise ending.to_failure(attempt)

    def _begin(self, call: StepCall) -> tuple[Attempt, Heartbeats]:
        info = activity.info()
        redactor = Redactor(self._secrets.forms())
        use_redactor(redactor)
        heart = Heartbeats(activity.heartbeat, info.heartbeat_details or call.last_heartbeat, redactor)
        number = call.earlier_attempts + info.attempt
        begun_at = info.current_attempt_scheduled_time
        attempt = Attempt(call, number, self._previous_occurrence, heart.report, heart.last, redactor, begun_at)
        attempt.live = lambda: {"log": attempt.log.end(redactor, LIVE)}
        heart.live = lambda: attempt.live()  # noqa: PLW0108 - a handler sets another
        use_log_lines(attempt.log)
        return attempt, heart

    async def _end(self, attempt: Attempt, heart: Heartbeats) -> Ending:
        step = attempt.call.step
        limit = asyncio.timeout(step.timeout)
        try:
            pause = min(step.heartbeat_timeout / _BEATS_PER_TIMEOUT, _LONGEST_PAUSE)
            with heart.beating(max(pause, _SHORTEST_BEAT)):
                if reason := await self._give_back(activity.info().task_queue, step):
                    return Ending("given_back", None, reason, last_heartbeat=_last(heart))
                async with limit:
                    ending = Ending("succeeded", await self._handle(attempt))
        except HandlerError as error:
            ending = Ending.of_error(error)
        except asyncio.CancelledError:
            return _interrupted(attempt, heart)
        except Exception as error:  # noqa: BLE001  whatever goes wrong is this attempt's failure, not the worker's
            if not limit.expired():
                _log.exception("step broke", action="step_broke")
            kind = type(error).__name__
            ending = Ending("failed", None, f"{kind}: {error}", details=attempt.evidence, kind=kind)
        # Whatever a handler makes of being stopped, it had its time.
        message = f"timed out after {step.timeout:g} s"
        timed_out = Ending("timed_out", None, message, details=attempt.evidence, kind="timeout")
        return timed_out if limit.expired() else ending

    async def _handle(self, attempt: Attempt) -> Any:
        handler = self._around(self._handlers.of(attempt.call.step.handler))
        return await handler.run(attempt.render(self._secrets), attempt)

    def _tell(self, attempt: Attempt, ending: Ending, duration: float) -> None:
        step = attempt.call.step
        self._observer(
            StepFinished(
                attempt.call.job,
                step.name,
                step.handler,
                attempt.number,
                ending.outcome,
                duration,
                ending.permanent,
                ending.kind,
            )
        )
        fields: dict[str, Any] = {"outcome": ending.outcome, "duration": round(duration, 3)}
        if ending.outcome == "succeeded":
            if reason := attempt.note or attempt.call.last_success_unreadable:
                _log.warning("the last success is not known", action="last_success_unknown", reason=reason)
            _log.info("step finished", action="step_finished", **fields)
        elif ending.outcome == "given_back":
            _log.warning("step given back for another worker", action="step_given_back", reason=ending.message)
        elif ending.outcome == "cancelled":
            _log.warning("step cancelled", action="step_cancelled", **fields)
        else:
            drained = ending.outcome == "worker_shutdown"
            more = drained or (attempt.number < step.retry.max_attempts and not ending.permanent)
            retry = {"retry_in": ending.retry_in(attempt)} if more else {}
            fields |= {"error": ending.message, "permanent": ending.permanent, **retry}
            _log.warning("step failed", action="step_failed", **fields)


def _interrupted(attempt: Attempt, heart: Heartbeats) -> Ending:
    """A cancellation: the run's own, or this worker's because it drains; the latter says nothing about the job."""
    why = activity.cancellation_details()
    if why.worker_shutdown if why else activity.is_worker_shutdown():
        message = "the worker stopped before the step had ended"
        return Ending("worker_shutdown", None, message, details=attempt.evidence, last_heartbeat=_last(heart))
    return Ending("cancelled", None, "cancelled", details=attempt.evidence)


def _last(heart: Heartbeats) -> list[Any]:
    return [] if heart.last is None else [heart.last]


@contextmanager
def _run_fields(attempt: Attempt) -> Iterator[None]:
    call = attempt.call
    with structlog.contextvars.bound_contextvars(
        job=call.job, scheduled_time=call.scheduled_at, run_id=call.run_id, step=call.step.name, attempt=attempt.number
    ):
        yield
