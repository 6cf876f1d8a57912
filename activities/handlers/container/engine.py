"""The part of Docker's API that steps need, which Podman has as well, over its Unix socket.

A client of our own because aiodocker does not say which stream a piece of a log belongs to, takes a log that breaks off for one that
has ended, and asks Docker for the container's settings again before each; what is left of it would be the requests below.
"""

from __future__ import annotations

import json
import time
from datetime import datetime
from http import HTTPStatus
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import aiohttp

from activities.errors import HandlerError
from activities.handlers.container.params import UNTIL

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

_HEADER = 8
"""Bytes before each piece of a log: the stream, three zeros, and the length (big-endian)."""
_STREAMS = {1: "stdout", 2: "stderr"}
_CONNECT_SECONDS = 5.0
SLACK = 60.0
"""Seconds after the time of a step is over, in which its own worker removes the container."""


class EngineError(Exception):
    """An answer that tells of a fault: its status and its message."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status, self.message = status, message


class Engine:
    """A session with the engine; close it. Every call raises EngineError, and aiohttp.ClientError where no answer comes."""

    def __init__(self, socket: str) -> None:
        self.socket = socket
        # No limit of time: a wait lasts as long as its container.
        timeout = aiohttp.ClientTimeout(total=None, sock_connect=_CONNECT_SECONDS)
        self._session = aiohttp.ClientSession(connector=aiohttp.UnixConnector(socket, limit=0), timeout=timeout)

    async def close(self) -> None:
        """Let go of its connections."""
        await self._session.close()

    async def host(self) -> str:
        """The name of its host. Podman's `ID` is another one each time."""
        info = await self._json("GET", "/info")
        return str(info.get("Name") or "")

    async def has_image(self, image: str) -> bool:
        """Whether the engine holds the image."""
        try:
            await self._json("GET", f"/images/{quote(image, safe='/:@')}/json")
        except EngineError as error:
            if error.status == HTTPStatus.NOT_FOUND:
                return False
            raise
        return True

    async def pull(self, image: str, auth: str) -> None:
        """Fetch the image; `auth` is what its registry is shown, empty for nothing."""
        headers = {"X-Registry-Auth": auth} if auth else {}
        async with self._request("POST", "/images/create", {"fromImage": image}, headers=headers) as response:
            await _check(response)
            async for line in response.content:
                progress = json.loads(line) if line.strip() else {}
                if fault := progress.get("error"):
                    raise EngineError(HTTPStatus.BAD_GATEWAY, str(fault))

    async def create(self, name: str, body: Mapping[str, Any]) -> str | None:
        """The id of the new container; None where one has the name already."""
        try:
            made = await self._json("POST", "/containers/create", {"name": name}, body)
        except EngineError as error:  # Docker has a status of its own for it, Podman says it in words.
            if error.status == HTTPStatus.CONFLICT or "already in use" in error.message:
                return None
            raise
        return str(made["Id"])

    async def put(self, container: str, archive: bytes) -> None:
        """Unpack a tar archive at the root of a container."""
        async with self._request("PUT", f"/containers/{container}/archive", {"path": "/"}, data=archive) as response:
            await _check(response)

    async def start(self, container: str) -> None:
        """Start it; one that runs is left alone."""
        await self._done("POST", f"/containers/{container}/start")

    async def inspect(self, container: str) -> dict[str, Any]:
        """What the engine knows of it, by id or name."""
        found: dict[str, Any] = await self._json("GET", f"/containers/{container}/json")
        return found

    async def wait(self, container: str) -> int:
        """Its exit code, once it has ended."""
        ended = await self._json("POST", f"/containers/{container}/wait", {"condition": "not-running"})
        return int(ended["StatusCode"])

    async def stop(self, container: str, grace: int) -> None:
        """SIGTERM (or the image's own signal), and SIGKILL after `grace` seconds."""
        await self._done("POST", f"/containers/{container}/stop", {"t": str(grace)})

    async def remove(self, container: str) -> None:
        """Remove it with its volumes of no name, whether it runs or is there at all."""
        try:
            await self._done("DELETE", f"/containers/{container}", {"force": "true", "v": "true"})
        except EngineError as error:
            if error.status != HTTPStatus.NOT_FOUND:
                raise

    async def overdue(self) -> list[str]:
        """Ids of containers of steps that have ended well a while ago, or whose time is over."""
        filters = json.dumps({"label": [UNTIL]})
        found = await self._json("GET", "/containers/json", {"all": "true", "filters": filters})
        now = time.time()
        return [str(one["Id"]) for one in found if float(one["Labels"].get(UNTIL, now)) + SLACK < now]

    async def log(self, container: str, *, follow: bool) -> AsyncIterator[tuple[str, bytes]]:
        """Its output from the beginning, as stream and bytes; with `follow` until it ends."""
        query = {"stdout": "true", "stderr": "true", "follow": "true" if follow else "false"}
        async with self._request("GET", f"/containers/{container}/logs", query) as response:
            await _check(response)
            try:
                while True:
                    header = await response.content.readexactly(_HEADER)
                    size = int.from_bytes(header[4:], "big")
                    yield _STREAMS.get(header[0], "stdout"), await response.content.readexactly(size)
            except EOFError:  # The end; a piece that is not whole is read again with the rest.
                return

    async def _done(self, method: str, path: str, query: Mapping[str, str] | None = None) -> None:
        async with self._request(method, path, query) as response:
            await _check(response)

    async def _json(
        self, method: str, path: str, query: Mapping[str, str] | None = None, body: Mapping[str, Any] | None = None
    ) -> Any:
        async with self._request(method, path, query, json=body) as response:
            await _check(response)
            return await response.json(content_type=None)

    def _request(
        self, method: str, path: str, query: Mapping[str, str] | None = None, **options: Any
    ) -> aiohttp.client._RequestContextManager:
        return self._session.request(method, f"http://engine{path}", params=query, **options)


async def _check(response: aiohttp.ClientResponse) -> None:
    """Raises EngineError for an answer that is none of success; one that says that nothing had to be done is."""
    if response.status < HTTPStatus.BAD_REQUEST:
        return
    text = await response.text()
    try:
        message = str(json.loads(text)["message"])
    except (ValueError, KeyError, TypeError):
        message = text.strip() or str(response.reason)
    raise EngineError(response.status, message)


def seconds_since(text: str) -> float:
    """Seconds since a time of the engine's."""
    return max(time.time() - datetime.fromisoformat(_fraction_cut(text)).timestamp(), 0.0)


def _fraction_cut(text: str) -> str:
    """A time without its nanoseconds, which Python reads from 3.11 on in part alone."""
    head, dot, rest = text.partition(".")
    zone = rest.lstrip("0123456789")
    return head + (zone if dot else "")


def unreachable(socket: str, error: Exception) -> HandlerError:
    """That no engine answers."""
    cause = getattr(error, "os_error", error)
    advice = "start Docker or `podman system service`, or set TICKWRIGHT_CONTAINER_SOCKET"
    if isinstance(cause, PermissionError):
        advice = "let the worker's user use it (for Docker: the group `docker`)"
    why = getattr(cause, "strerror", None) or cause
    return HandlerError(f"no container engine answers at {socket}: {why}; {advice}", kind=type(cause).__name__)
