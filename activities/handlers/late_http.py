"""The `http` handler and its session, loaded with their library when the first request is to be sent: many workers never send one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from collections.abc import Callable

    import aiohttp

    from activities.attempt import Attempt


class LateHttpHandler:
    """Runs steps as HttpHandler does."""

    def __init__(self, session: Callable[[], aiohttp.ClientSession]) -> None:
        self._session = session

    async def run(self, params: dict[str, Any], attempt: Attempt) -> dict[str, Any]:
        """See HttpHandler."""
        from activities.handlers.http import HttpHandler

        return await HttpHandler(self._session).run(params, attempt)


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
