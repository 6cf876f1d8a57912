"""Lists of Temporal, page by page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable


class Page(Protocol):
    """A response with a part of a list."""

    next_page_token: bytes


class PageRequest(Protocol):
    """A request for a part of a list."""

    next_page_token: bytes


Request = TypeVar("Request", bound=PageRequest)
Response = TypeVar("Response", bound=Page)


async def pages(ask: Callable[[Request], Awaitable[Response]], request: Request) -> AsyncIterator[Response]:
    """Each page of a list, from the one that `request` names to the last; the request's token goes along."""
    while True:
        page = await ask(request)
        yield page
        if not page.next_page_token:
            return
        request.next_page_token = page.next_page_token
