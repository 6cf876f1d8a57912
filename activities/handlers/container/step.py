"""One attempt at a step that is a container: found or made, followed, judged."""

from __future__ import annotations

import asyncio
import time
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

import structlog

from activities.contract import STOP_GRACE
from activities.errors import HandlerError
from activities.handlers.command import facts_of, last_line
from activities.handlers.container.auth import registry_auth
from activities.handlers.container.engine import SLACK, EngineError, seconds_since
from activities.handlers.container.params import UNTIL, archive_of, body_of
from activities.handlers.container.verdict import refused
from activities.handlers.lasting import KEPT_AFTER_END, KEY, goes_on_elsewhere, last_of, name_of
from activities.handlers.verdict import ended_badly
from activities.steps.heartbeats import LIVE

if TYPE_CHECKING:
    from activities.handlers.container.engine import Engine
    from activities.handlers.container.params import ContainerParams
    from activities.handlers.container.removal import Removals
    from activities.handlers.log_output import Output
    from activities.steps.attempt import Attempt

_log: structlog.stdlib.BoundLogger = structlog.get_logger()
_REST_SECONDS = 2.0
_TRIES, _PAUSE = 60, 0.5
_BEFORE_START, _START_SECONDS = {"created", "configured", "initialized"}, 20.0
"""States of a container that its maker starts within so many seconds, unless it has died."""
_AT_WORK_OR_ENDED = {"running", "paused", "restarting", "removing", "stopping", "exited", "stopped", "dead"}


class ContainerStep:
    """`run` does it once.

    The details of its heartbeats, for the next attempt: `failures`, how many containers of the step have failed so far; `host`, where
    this one is; and after a drain `shown`, the bytes of each stream that people have been shown.
    """

    def __init__(
        self, engine: Engine, request: ContainerParams, attempt: Attempt, output: Output, removals: Removals
    ) -> None:
        self._engine, self._request, self._attempt, self._removals = engine, request, attempt, removals
        self._last = last_of(attempt)
        self._failures = int(self._last.get("failures", 0))
        self._name = name_of(attempt.idempotency_key, self._failures)
        self._output = output
        self._host = self._id = ""
        self._until = time.monotonic() + attempt.call.step.timeout
        self._ending: asyncio.Task[None] | None = None

    async def run(self) -> dict[str, Any]:
        """See ContainerHandler.run."""
        self._host = await self._engine.host()
        self._attempt.evidence["container"] = self._name
        try:
            container = await self._found()
            self._attempt.live = lambda: self._output.ends(self._attempt.redactor, LIVE)
            await self._beat(host=self._host)
            return await self._watched(container)
        except asyncio.CancelledError:
            if self._id:
                await self._interrupted()
            raise

    async def _watched(self, container: dict[str, Any]) -> dict[str, Any]:
        """The time counts from the container's start, whoever started it."""
        timeout, state = self._attempt.call.step.timeout, container["State"]
        self._until = time.monotonic() + timeout - seconds_since(state["StartedAt"])
        limit = asyncio.timeout(max(self._until - time.monotonic(), 0.0) if state.get("Running") else None)
        try:
            async with limit:
                code = await self._followed()
        except TimeoutError:
            if not limit.expired():
                raise
            await self._end()
            message = f"timed out after {timeout:g} s, counted from the start of its container"
            failure = HandlerError(message, kind="timeout", details=await self._details())
        else:
            return await self._judged(code)
        raise failure

    async def _found(self) -> dict[str, Any]:
        """The container of the step, that of an earlier attempt or a new one, at work or ended."""
        for _ in range(_TRIES):
            if (found := await self._existing()) is None:
                self._check_host()
                if (made := await self._made()) is not None:
                    return made
                continue  # Another attempt has made it meanwhile.
            if found["Config"]["Labels"].get(KEY) != self._attempt.idempotency_key:
                message = f"there is a container `{self._name}` that is none of this step; remove it"
                raise HandlerError(message, permanent=True)
            state = found["State"]
            if state["Status"] in _AT_WORK_OR_ENDED:
                self._id = found["Id"]
                _log.info("goes on with the container of an earlier attempt", container=self._name)
                return found
            if state["Status"] in _BEFORE_START and seconds_since(found["Created"]) < _START_SECONDS:
                await asyncio.sleep(_PAUSE)  # Another attempt is about to start it.
                continue
            await self._engine.remove(found["Id"])  # It never began.
        raise HandlerError(f"other attempts make and remove the container `{self._name}` at the same time")

    def _check_host(self) -> None:
        """Raises HandlerError where a drained worker has left the container running on another host."""
        before = str(self._last.get("host", ""))
        if before in {"", self._host}:
            return
        if "shown" in self._last:
            message = f"its container was left running on the host `{before}`, where the next attempt can go on with it"
            raise HandlerError(f"{message}; let one host alone take this task queue", kind="other host")
        _log.warning("the container of an earlier attempt may still run on its host", host=before)

    async def _existing(self) -> dict[str, Any] | None:
        try:
            return await self._engine.inspect(self._name)
        except EngineError as error:
            if error.status == HTTPStatus.NOT_FOUND:
                return None
            raise

    async def _made(self) -> dict[str, Any] | None:
        await self._pulled()
        step, key, image = self._attempt.call.step, self._attempt.idempotency_key, self._request.image
        labels = {KEY: key, "tickwright.job": self._attempt.call.job, "tickwright.step": step.name}
        labels[UNTIL] = str(round(time.time() + step.timeout))
        environment = self._request.env | facts_of(self._attempt)
        try:
            made = await self._engine.create(self._name, body_of(self._request, environment, labels))
        except EngineError as error:
            raise refused(error, image) from None
        if made is None:
            return None
        self._id = made
        try:
            if self._request.files:
                await self._engine.put(made, archive_of(self._request.files))
            await self._engine.start(made)
        except EngineError as error:
            await self._engine.remove(made)
            raise refused(error, image) from None
        _log.info("container started", container=self._name, image=image)
        return await self._engine.inspect(made)

    async def _pulled(self) -> None:
        request = self._request
        if request.pull != "always" and await self._engine.has_image(request.reference):
            return
        if request.pull == "never":
            raise HandlerError(f"the image `{request.image}` is not there, and `pull` is never", permanent=True)
        try:
            await self._engine.pull(request.reference, registry_auth(request.reference))
        except EngineError as error:
            message = f"the image `{request.image}` cannot be pulled: {error.message}"
            raise HandlerError(message, permanent="invalid reference" in error.message, kind="pull") from None

    async def _followed(self) -> int:
        """The exit code, when the container has ended and all of its output is taken."""
        following = asyncio.create_task(self._output.read(self._engine.log(self._id, follow=True)))
        try:
            code = await self._engine.wait(self._id)
            if (await self._engine.inspect(self._id))["State"].get("Running"):  # An engine that stops says so, too.
                raise HandlerError("the container engine stopped waiting for a container that runs", kind="engine")
            await asyncio.wait([following], timeout=_REST_SECONDS)
            following.cancel()
            await asyncio.gather(following, return_exceptions=True)
            await self._output.read(self._engine.log(self._id, follow=False))
        except EngineError as error:
            if error.status != HTTPStatus.NOT_FOUND:
                raise
            await self._beat(failures=self._failures + 1)
            message = f"the container `{self._name}` was removed by somebody"
            raise HandlerError(message, kind="removed", details=await self._details()) from None
        finally:
            following.cancel()
        return code

    async def _judged(self, code: int) -> dict[str, Any]:
        self._removals.later(self._id, KEPT_AFTER_END)
        if code == 0:
            return await self._output.success(self._attempt)
        details, request = await self._details(), self._request
        state = (await self._engine.inspect(self._id))["State"]
        await self._beat(failures=self._failures + 1)
        raise ended_badly(
            request.image,
            code,
            out_of_memory=bool(state.get("OOMKilled")),
            memory=request.memory,
            permanent=code in request.permanent_exit_codes,
            last_line=last_line(details, self._attempt.redactor),
            details=details,
        )

    async def _interrupted(self) -> None:
        if goes_on_elsewhere():
            self._attempt.evidence |= await self._details()
            await self._beat(host=self._host, shown=self._output.shown)
            self._removals.later(self._id, max(self._until - time.monotonic(), 0.0) + SLACK)
            return
        await self._end()
        self._attempt.evidence |= await self._details()

    async def _end(self) -> None:
        """Stop and remove it, once, whatever else happens to the attempt."""
        self._ending = self._ending or asyncio.create_task(self._stopped())
        await asyncio.shield(self._ending)

    async def _stopped(self) -> None:
        """Its last words are taken."""
        try:
            await self._engine.stop(self._id, round(STOP_GRACE))
            await self._output.read(self._engine.log(self._id, follow=False))
        except EngineError as error:
            if error.status != HTTPStatus.NOT_FOUND:
                raise
        finally:
            await self._engine.remove(self._id)
            await self._beat(failures=self._failures + 1)

    async def _beat(self, *, failures: int | None = None, **facts: Any) -> None:
        self._attempt.send_heartbeat({"failures": self._failures if failures is None else failures, **facts})
        await asyncio.sleep(0)  # The loop takes it.

    async def _details(self) -> dict[str, Any]:
        return await self._output.details(self._attempt)
