"""The handler: one container for a step, by a name that every attempt finds again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import aiohttp

from activities.errors import HandlerError
from activities.handlers.container.engine import Engine, EngineError, unreachable
from activities.handlers.container.params import ContainerParams, check_mounts
from activities.handlers.container.removal import Removals
from activities.handlers.container.step import ContainerStep
from activities.handlers.lasting import last_of
from activities.handlers.log_output import Output
from activities.steps.params import parse_params

if TYPE_CHECKING:
    from activities.handlers.table import Parts
    from activities.steps.attempt import Attempt

NOT_ALLOWED = "containers are not allowed on this worker; set TICKWRIGHT_ALLOW_CONTAINERS=true to allow them"


class ContainerHandler:
    """Runs containers where the worker's settings allow it."""

    def __init__(self, parts: Parts) -> None:
        self._settings = parts.containers
        self._outputs = parts.outputs
        self._removals = Removals(self._settings.socket)

    def problem(self, params: dict[str, Any]) -> str:
        """See Handler."""
        if not self._settings.allowed:
            return NOT_ALLOWED
        try:
            check_mounts(params.get("mounts", ()), self._settings.mounts)
        except HandlerError as error:
            return error.message
        return ""

    async def trial(self, params: dict[str, Any]) -> str:
        """See Trying: whether an engine answers, and has an image that is never pulled."""
        if problem := self.problem(params):
            return problem
        request = parse_params(ContainerParams, params)
        engine = Engine(self._settings.socket)
        try:
            here = await engine.has_image(request.reference)
        except EngineError as error:
            return error.message
        except (aiohttp.ClientError, OSError) as error:
            return unreachable(engine.socket, error).message
        finally:
            await engine.close()
        return (
            "" if here or request.pull != "never" else f"the image `{request.image}` is not there, and `pull` is never"
        )

    async def run(self, params: dict[str, Any], attempt: Attempt) -> dict[str, Any]:
        """`{"exit_code": 0, "stdout": …, "stderr": …}` and the keys of the last line, as a command gives. Raises HandlerError.

        Cancelled or out of time, it stops the container (SIGTERM, SIGKILL after STOP_GRACE) and removes it. Where the attempt
        goes on in another worker, the container does, too.
        """
        if not self._settings.allowed:
            raise HandlerError(NOT_ALLOWED, permanent=True)
        request = parse_params(ContainerParams, params)
        check_mounts(request.mounts, self._settings.mounts)
        engine = Engine(self._settings.socket)
        output = Output(last_of(attempt).get("shown") or {}, self._outputs)
        try:
            return await ContainerStep(engine, request, attempt, output, self._removals).run()
        except EngineError as error:
            failure = HandlerError(f"the container engine refused: {error.message}", kind=f"engine {error.status}")
        except (aiohttp.ClientError, OSError) as error:
            failure = unreachable(engine.socket, error)
        finally:
            output.close()
            await engine.close()
        raise failure
