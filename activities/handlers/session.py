"""The HTTP session of a worker, opened with the first request: many workers never send one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    import aiohttp


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
