"""The `python` handler: a registered function, async on the event loop or sync in a thread."""

from __future__ import annotations

import traceback
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, Field
from temporalio.exceptions import ApplicationError

from activities.context import JobContext
from activities.errors import HandlerError
from activities.handlers.calls import CalledError
from activities.steps.output import to_json
from activities.steps.params import parse_params

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from activities.handlers.table import Parts
    from activities.steps.attempt import Attempt
    from activities.steps.signature import Handler

_FRAMES = 10


class PythonParams(BaseModel):
    """Which function, with which parameters."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    handler: str
    params: dict[str, Any] = Field(default_factory=dict)


class PythonHandler:
    """Calls functions of the worker's registry."""

    def __init__(self, parts: Parts) -> None:
        self._registry = parts.registry
        self._calls = parts.calls

    def problem(self, params: dict[str, Any]) -> str:
        """See Handler."""
        problems = self._registry.check_params(params["handler"], params.get("params", {}))
        return "; ".join(problem.message for problem in problems)

    async def run(self, params: dict[str, Any], attempt: Attempt) -> Any:
        """The function's result as JSON. Raises HandlerError; another exception of the function becomes one, retryable.

        A function in a thread cannot be interrupted: it is told by `context.cancelled`, an async one by a CancelledError.
        One that has not ended STOP_GRACE seconds later is given up.
        """
        request = parse_params(PythonParams, params)
        entry = self._registry.get(request.handler)
        call = _bind(entry, request.params, context_of(attempt))
        result = await self._result(entry, call, attempt)
        try:
            return to_json(result)
        except ValueError as error:
            raise HandlerError(f"the handler `{entry.name}` returned {error}", permanent=True) from None

    async def _result(self, entry: Handler, call: Callable[[], Any], attempt: Attempt) -> Any:
        try:
            return await (self._calls.on_loop if entry.is_async else self._calls.in_thread)(call, attempt)
        except CalledError as called:
            failure = _failure(called.error, attempt.call.step.retry.permanent)
        raise failure


HANDLER = PythonHandler


def _bind(entry: Handler, params: dict[str, Any], context: JobContext) -> Callable[[], Any]:
    if entry.model is None and params:
        raise HandlerError(
            f"the handler `{entry.name}` takes no parameters, but has {', '.join(params)}", permanent=True
        )
    model = None if entry.model is None else parse_params(entry.model, params)
    return lambda: entry.call(model, context)


def context_of(attempt: Attempt) -> JobContext:
    """What a function is told of its attempt."""
    return JobContext(
        job=attempt.call.job,
        step=attempt.call.step.name,
        run_id=attempt.call.run_id,
        attempt=attempt.number,
        scheduled_at=attempt.scheduled_at,
        idempotency_key=attempt.idempotency_key,
        last_heartbeat=attempt.last_heartbeat,
        last_success=attempt.last_success,
        cancelled=attempt.stopping,
        send_heartbeat=attempt.send_heartbeat,
        find_interval_start=lambda: attempt.interval_start,
        begun_at=attempt.begun_at,
    )


def _failure(error: BaseException, permanent: Collection[str]) -> HandlerError:
    """`permanent` names types of errors, with their modules or without, that no further attempt can mend."""
    if isinstance(error, HandlerError):
        return error
    told = traceback.TracebackException.from_exception(error, limit=-_FRAMES)
    details = {"traceback": "".join(told.format())}
    for_good = not names_of(type(error)).isdisjoint(permanent)
    if isinstance(error, ApplicationError):
        delay = error.next_retry_delay
        return HandlerError(
            error.message,
            permanent=error.non_retryable or for_good or error.type in permanent,
            retry_after=None if delay is None else delay.total_seconds(),
            details=details,
            kind=error.type or type(error).__qualname__,
        )
    message = "".join(told.format_exception_only()).strip()
    return HandlerError(message, permanent=for_good, details=details, kind=type(error).__qualname__)


def names_of(kind: type[BaseException]) -> set[str]:
    """What an exception's type and those that it is a kind of may be called: `ValueError`, `my_jobs.RowGone`."""
    types = [each for each in kind.__mro__ if each is not object]
    return {each.__qualname__ for each in types} | {f"{each.__module__}.{each.__qualname__}" for each in types}
