"""All pages of a list, and no more than there are."""

from __future__ import annotations

from temporalio.api.workflowservice.v1 import ListSchedulesRequest, ListSchedulesResponse

from schedules.server.paging import pages

TOKENS = {b"": b"a", b"a": b"b", b"b": b""}


async def test_every_page_is_asked_for_once_by_the_token_of_the_one_before() -> None:
    asked: list[tuple[bytes, str]] = []

    async def ask(request: ListSchedulesRequest) -> ListSchedulesResponse:
        asked.append((request.next_page_token, request.query))
        return ListSchedulesResponse(next_page_token=TOKENS[request.next_page_token])

    found = [page.next_page_token async for page in pages(ask, ListSchedulesRequest(query="q"))]
    assert found == [b"a", b"b", b""]
    assert asked == [(b"", "q"), (b"a", "q"), (b"b", "q")]
