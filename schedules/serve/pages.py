"""A few small pages over HTTP, from the standard library: who serves nothing else loads no HTTP library for them."""

from __future__ import annotations

import asyncio
import socketserver
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socket import AF_INET, AF_INET6, SHUT_RDWR, socket
from threading import Lock, Thread
from typing import Any

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest

from schedules.serve.guard import Guard
from schedules.serve.serving import AddressInUseError

ANSWER_SECONDS = 4.0
"""How long a page may take; one that waits for an event loop that is held is given up then."""
IDLE_SECONDS = 10.0
MOST_CONNECTIONS = 100
"""At a time; one more ends the oldest, so that idle ones keep no probe out."""


@dataclass(frozen=True)
class Page:
    """An answer."""

    text: bytes
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=lambda: {"Content-Type": "text/plain; charset=utf-8"})

    @classmethod
    def of(cls, text: str, status: int = 200, **headers: str) -> Page:
        """Plain text, one line."""
        return cls(f"{text}\n".encode(), status, {"Content-Type": "text/plain; charset=utf-8", **headers})


Pages = Mapping[str, Callable[[Message], Awaitable[Page]]]
"""By path: what makes the page of a request's headers, in the event loop."""

HELD = Page.of("something holds the event loop", 503)
NOT_FOUND = Page.of("no such page", 404)


class _Server(ThreadingHTTPServer):
    """Answers in threads that end with the process. `pages` may be asked from them."""

    request_queue_size = 128

    def __init__(self, address: tuple[str, int], pages: Pages, loop: asyncio.AbstractEventLoop) -> None:
        self.address_family = AF_INET6 if ":" in address[0] else AF_INET
        self.pages, self.loop = pages, loop
        self._open: dict[socket, None] = {}
        self._changes = Lock()
        super().__init__(address, _Handler)

    def server_bind(self) -> None:
        """Without the look-up of its own name, which can take seconds."""
        socketserver.TCPServer.server_bind(self)

    def process_request(self, request: Any, client_address: Any) -> None:
        """Called by the base class in one thread for each connection, oldest first."""
        with self._changes:
            self._open[request] = None
            oldest = next(iter(self._open)) if len(self._open) > MOST_CONNECTIONS else None
        if oldest:
            with suppress(OSError):  # Its thread is ending it.
                oldest.shutdown(SHUT_RDWR)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        """Called by the base class at the end of each connection."""
        with self._changes:
            self._open.pop(request, None)
        super().shutdown_request(request)

    def page(self, path: str, headers: Message) -> Page:
        """The answer to a request."""
        make = self.pages.get(path.partition("?")[0])
        if make is None:
            return NOT_FOUND
        made = asyncio.run_coroutine_threadsafe(_awaited(make(headers)), self.loop)
        try:
            return made.result(ANSWER_SECONDS)
        except TimeoutError:
            made.cancel()
            return HELD


async def _awaited(page: Awaitable[Page]) -> Page:
    return await page


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = IDLE_SECONDS
    server: _Server

    def version_string(self) -> str:
        """What stands under `Server`: no version to look up weaknesses for."""
        return "tickwright"

    def do_GET(self) -> None:
        page = self.server.page(self.path, self.headers)
        self.send_response(page.status)
        for name, value in page.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(page.text)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(page.text)

    do_HEAD = do_GET  # noqa: N815

    def log_message(self, *_: object) -> None:
        """Probes are not logged."""


@asynccontextmanager
async def serving_pages(pages: Pages, address: tuple[str, int], setting: str) -> AsyncIterator[str]:
    """Serves and gives the URL. Raises AddressInUseError."""
    host, port = address
    try:
        server = _Server(address, pages, asyncio.get_running_loop())
    except OSError as error:
        raise AddressInUseError(host, port, error.strerror or str(error), setting) from error
    Thread(target=server.serve_forever, args=(0.05,), name="pages", daemon=True).start()
    try:
        shown = f"[{host}]" if ":" in host else host
        yield f"http://{shown}:{server.server_address[1]}"
    finally:
        await asyncio.to_thread(server.shutdown)
        server.server_close()


def metrics_page(registry: CollectorRegistry, guard: Guard, headers: Message) -> Page:
    """What the registry collects now, for who may read it."""
    if refusal := guard.refusal_of(headers):
        challenge = {"WWW-Authenticate": "Bearer"} if refusal.needs_token else {}
        return Page.of(refusal.text, refusal.status, **challenge)
    return Page(generate_latest(registry), headers={"Content-Type": CONTENT_TYPE_LATEST})
