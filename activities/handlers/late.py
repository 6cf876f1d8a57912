"""Handlers, and the HTTP session, that are loaded with what they need when their first step is to run: many workers never run one."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from collections.abc import Callable

    import aiohttp

    from activities.steps.attempt import Attempt, StepHandler


class LateHandler:
    """Runs steps as the handler does that `load` gives."""

    def __init__(self, load: Callable[[], StepHandler]) -> None:
        self._load = load

    @cached_property
    def _handler(self) -> StepHandler:
        return self._load()

    async def run(self, params: dict[str, Any], attempt: Attempt) -> Any:
        """See StepHandler."""
        return await self._handler.run(params, attempt)


def command_handler(*, allowed: bool) -> LateHandler:
    """A CommandHandler."""

    def load() -> StepHandler:
        from activities.handlers.command import CommandHandler

        return CommandHandler(allowed=allowed)

    return LateHandler(load)


def http_handler(session: Callable[[], aiohttp.ClientSession]) -> LateHandler:
    """An HttpHandler."""

    def load() -> StepHandler:
        from activities.handlers.http import HttpHandler

        return HttpHandler(session)

    return LateHandler(load)


class LateSession:
    """Called, it gives the one session, which is closed at the end of the context."""

    def __init__(self) -> None:
        self._session: aiohttp.ClientSession | None = None

    def __call__(self) -> aiohttp.ClientSession:
        """The session, opened at the first call."""
        if self._session is None:
            from activities.handlers.http import open_session

            self._session = open_session()
        return self._session

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._session is not None:
            await self._session.close()
