"""Stand-ins of the test for handlers, or the real handler where that can do no harm."""

from __future__ import annotations

import inspect
import traceback
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from activities.errors import HandlerError
from activities.steps.output import to_json
from worker.testkit.calls import Call, as_written

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from activities.contract import StepRequest
    from activities.handlers.table import StepHandler
    from activities.steps.attempt import Attempt

StandIn = Callable[[Call], Any] | dict[str, Any] | list[Any] | str | float | bool
"""What a step gives back, or a function (sync or async) that says so, or raises. None as an output needs a function."""

_FRAMES = 10


@dataclass
class StandIns:
    """The stand-ins of one run of the kit, and what they and the real handlers were given, by scheduled time in UTC."""

    by_kind: Mapping[str, StandIn | None]
    by_step: Mapping[str, StandIn]
    hosts: Collection[str]
    kinds: dict[str, str] = field(default_factory=dict)
    """The handlers of the steps as the spec has them."""
    calls: defaultdict[str, list[Call]] = field(default_factory=lambda: defaultdict(list))
    broken: AssertionError | None = None
    """What a stand-in found wrong."""

    def has(self, step: StepRequest) -> bool:
        """Whether the step, as the spec has it, is answered by the test."""
        return step.name in self.by_step or self.by_kind.get(step.handler) is not None

    def answering(self, step: str) -> StandIn | None:
        """The stand-in of a step; its own goes before that of its handler."""
        return self.by_step[step] if step in self.by_step else self.by_kind.get(self.kinds[step])

    def around(self, real: StepHandler) -> StepHandler:
        """The handler as steps see it in a test."""
        return _Answering(self, real)


class _Answering:
    """Between the steps and one real handler."""

    def __init__(self, stand_ins: StandIns, real: StepHandler) -> None:
        self._stand_ins, self._real = stand_ins, real

    async def run(self, params: dict[str, Any], attempt: Attempt) -> Any:
        """The answer of the stand-in, else of the handler. Raises HandlerError."""
        step = attempt.call.step
        call = Call.of(attempt, self._stand_ins.kinds[step.name], params)
        self._stand_ins.calls[attempt.call.scheduled_at].append(replace(call, params=as_written(step.params, attempt)))
        answer = self._stand_ins.answering(step.name)
        if answer is None:
            self._check_reach(call, attempt)
            return await self._real.run(params, attempt)
        try:
            return to_json(await _answered(answer, call))
        except HandlerError:
            raise
        except AssertionError as error:
            self._stand_ins.broken = self._stand_ins.broken or error
            failure = HandlerError(f"the stand-in found something wrong: {error}", permanent=True)
        except Exception as error:  # noqa: BLE001 - like any exception of a handler, it fails the attempt
            failure = _failure(error)
        raise failure

    def _check_reach(self, call: Call, attempt: Attempt) -> None:
        if call.handler != "http":
            return
        host = urlsplit(call.params["url"]).hostname or ""
        if not _is_loopback(host) and host not in self._stand_ins.hosts:
            raise HandlerError(
                f"{attempt.written(attempt.call.step.params['url'])} is not on this machine, and this is a test; give http=… "
                "a stand-in, or name the host in allow_hosts",
                permanent=True,
            )


async def _answered(stand_in: StandIn, call: Call) -> Any:
    answer = stand_in(call) if callable(stand_in) else stand_in
    return await answer if inspect.isawaitable(answer) else answer


def _failure(error: Exception) -> HandlerError:
    told = traceback.TracebackException.from_exception(error, limit=-_FRAMES)
    return HandlerError("".join(told.format_exception_only()).strip(), details={"traceback": "".join(told.format())})


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
