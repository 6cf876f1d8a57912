"""The board over HTTP: GET and HEAD alone."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from aiohttp import hdrs, web

from schedules.board.asked import NoAnswerError, TooManyQuestionsError
from schedules.board.cells import CELL
from schedules.board.files import INDEX, page_files
from schedules.board.headers import CHALLENGES, HEADERS
from schedules.console.table import one_line
from schedules.errors import ServerError, SettingsError, TickwrightError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping
    from datetime import timedelta

    from schedules.board.asked import Questions
    from schedules.board.latest import Document, Latest
    from schedules.monitor.monitored_job import MonitoredJob
    from schedules.serve.guard import Guard

    Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

PATIENCE = 3
"""Intervals without a look that succeeded, after which the board does not count as ready."""
JUDGED = (hdrs.HOST, hdrs.AUTHORIZATION, "Sec-Fetch-Site", "Sec-Fetch-Mode")
PROBES = frozenset({"/livez", "/readyz"})
FIRST, LAST = 946_684_800, 4_102_444_800
"""The years 2000 and 2100, which the server's calendars know; Unix seconds."""
LONGEST_NAME = 1_000


class Board:
    """What the handlers share. `questions` and `known`, the jobs of the last look, are there once Temporal was reached."""

    def __init__(self, latest: Latest, guard: Guard, interval: timedelta) -> None:
        self.questions: Questions | None = None
        self.known: Mapping[str, MonitoredJob] = {}
        self._latest = latest
        self._guard = guard
        self._interval = interval

    def application(self) -> web.Application:
        """All routes."""
        application = web.Application(middlewares=[self._guarded])
        for name, (document, kind) in page_files().items():
            application.router.add_get("/" if name == INDEX else f"/{name}", _file(document, kind))
        asked = {"/data": self._data, "/story": self._story, "/occurrences": self._occurrences}
        probes = {"/livez": self._livez, "/readyz": self._readyz}
        for path, handler in {**asked, **probes}.items():
            application.router.add_get(path, handler)
        return application

    @web.middleware
    async def _guarded(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        try:
            response = self._refused(request) or await handler(request)
        except web.HTTPException as error:
            response = _text(error.reason, error.status)
            if hdrs.ALLOW in error.headers:
                response.headers[hdrs.ALLOW] = error.headers[hdrs.ALLOW]
        response.headers.update(HEADERS)
        return response

    def _refused(self, request: web.Request) -> web.Response | None:
        if request.path in PROBES:
            return None
        refusal = self._guard.refusal(*(request.headers.get(name, "") for name in JUDGED))
        if refusal is None:
            return None
        response = _text(refusal.text, refusal.status)
        for challenge in CHALLENGES if refusal.status == web.HTTPUnauthorized.status_code else ():
            response.headers.add(hdrs.WWW_AUTHENTICATE, challenge)
        return response

    async def _data(self, request: web.Request) -> web.Response:
        return _sent(request, self._latest.document, "application/json; charset=utf-8")

    async def _story(self, request: web.Request) -> web.Response:
        return await self._answered(request, lambda questions, known, at: questions.story(known.job.name, at))

    async def _occurrences(self, request: web.Request) -> web.Response:
        def ask(questions: Questions, known: MonitoredJob, at: datetime) -> Awaitable[Any]:
            return questions.occurrences(known, datetime.fromtimestamp(int(at.timestamp()) // CELL * CELL, UTC))

        return await self._answered(request, ask)

    async def _answered(
        self, request: web.Request, ask: Callable[[Questions, MonitoredJob, datetime], Awaitable[Any]]
    ) -> web.Response:
        job, at = request.query.get("job", ""), _instant(request.query.get("at", ""))
        if at is None or not 0 < len(job) <= LONGEST_NAME:
            return _text("give job=NAME and at=UNIX_SECONDS", 400)
        known = self.known.get(job)
        if known is None:
            return _text("the board knows no such job", 404)
        if self.questions is None:
            return _text("Temporal has not been reached yet", 503)
        try:
            answer = web.json_response(await ask(self.questions, known, at))
        except TickwrightError as error:
            return _text(one_line(str(error), LONGEST_NAME), _status(error))
        answer.enable_compression()
        return answer

    async def _livez(self, _: web.Request) -> web.Response:
        return _text("ok")

    async def _readyz(self, _: web.Request) -> web.Response:
        at = self._latest.looked_at
        if at and datetime.now(UTC) - at < PATIENCE * self._interval:
            return _text("ok")
        return _text("Temporal has not been looked at of late", 503)


def _status(error: TickwrightError) -> int:
    match error:
        case SettingsError():
            return 404  # deleted since the last look
        case TooManyQuestionsError():
            return 503
        case NoAnswerError():
            return 504
        case ServerError():
            return 502
        case _:
            return 500


def _file(document: Document, kind: str) -> Handler:
    async def handler(request: web.Request) -> web.Response:
        return _sent(request, document, kind)

    return handler


def _sent(request: web.Request, document: Document, kind: str) -> web.Response:
    """The document, compressed where the browser takes that, or 304 where it has it already."""
    headers = {hdrs.ETAG: f'"{document.tag}"', hdrs.VARY: hdrs.ACCEPT_ENCODING}
    if any(tag.value in {document.tag, "*"} for tag in request.if_none_match or ()):
        return web.Response(status=304, headers=headers)
    packed = "gzip" in request.headers.get(hdrs.ACCEPT_ENCODING, "")
    if packed:
        headers[hdrs.CONTENT_ENCODING] = "gzip"
    return web.Response(
        body=document.packed if packed else document.plain, headers={hdrs.CONTENT_TYPE: kind, **headers}
    )


def _text(text: str, status: int = 200, headers: Mapping[str, str] | None = None) -> web.Response:
    return web.Response(text=f"{text}\n", status=status, headers=headers)


def _instant(text: str) -> datetime | None:
    """Unix seconds of a year that schedules know."""
    if not (text.isascii() and text.isdecimal() and len(text) <= len(str(LAST)) and FIRST <= int(text) < LAST):
        return None
    return datetime.fromtimestamp(int(text), UTC)
