"""The `http` handler against real servers."""

from __future__ import annotations

import asyncio
import base64
import gzip
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import TYPE_CHECKING, Any

import pytest
from aiohttp import web

from activities.contract import RetryRequest, StepCall
from tests.integration.step_failures import details_of, failure_of
from tests.step_calls import bench, step_call

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Mapping

pytestmark = pytest.mark.asyncio


@dataclass
class Service:
    """A server that remembers what it was asked."""

    url: str = ""
    requests: list[tuple[str, str, Mapping[str, str], bytes]] = field(default_factory=list)


@asynccontextmanager
async def service(
    answer: Callable[[web.Request], Awaitable[web.StreamResponse]] | web.Response,
) -> AsyncIterator[Service]:
    made = Service()

    async def respond(request: web.Request) -> web.StreamResponse:
        made.requests.append((request.method, request.path_qs, request.headers, await request.read()))
        if isinstance(answer, web.Response):
            return web.Response(status=answer.status, headers=answer.headers, body=answer.body)
        return await answer(request)

    runner = web.AppRunner(_app(respond), shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    made.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    try:
        yield made
    finally:
        await runner.cleanup()


def _app(respond: Callable[[web.Request], Awaitable[web.StreamResponse]]) -> web.Application:
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", respond)
    return app


def http(url: str, **params: Any) -> StepCall:
    return step_call("http", {"url": url, **params})


async def test_request_arrives_as_written_with_its_idempotency_key() -> None:
    async with service(web.json_response({"reminded": 3})) as server, bench() as made:
        call = http(
            f"{server.url}/dunning?day={{scheduled_at:%F}}",
            json={"from": "{interval_start}", "to": "{interval_end}", "n": 1},
            headers={"X-Attempt": "{attempt}"},
        )
        result = await made.run(call)
    assert result.output == {"status": 200, "body": {"reminded": 3}}
    assert result.attempts == 1
    [(method, path, headers, body)] = server.requests
    assert (method, path) == ("POST", "/dunning?day=2027-03-01")
    assert body == b'{"from": "2027-02-28T08:00:00-05:00", "to": "2027-03-01T08:00:00-05:00", "n": 1}'
    assert headers["Content-Type"] == "application/json"
    assert headers["X-Attempt"] == "1"
    assert headers["Idempotency-Key"] == "billing/production/invoice-dunning/2027-03-01T13:00:00Z/run"


async def test_key_and_body_are_the_same_in_every_attempt() -> None:
    async with service(web.Response(status=503)) as server, bench() as made:
        call = http(server.url, json={"b": "ü", "a": ["{scheduled_at}"]})
        for attempt in (1, 2, 3):
            made.at_attempt(attempt)
            await failure_of(made, call)
    assert len(server.requests) == 3
    assert len({body for *_, body in server.requests}) == 1
    assert len({headers["Idempotency-Key"] for _, _, headers, _ in server.requests}) == 1


async def test_plain_body_own_headers_and_method() -> None:
    async with service(web.Response(text="ok")) as server, bench() as made:
        headers = {"content-type": "text/csv", "idempotency-key": "mine"}
        result = await made.run(http(server.url, method="PUT", body="a;b\n", headers=headers))
    assert result.output == {"status": 200, "body": "ok"}
    [(method, _, sent, body)] = server.requests
    assert (method, body, sent["Content-Type"], sent["Idempotency-Key"]) == ("PUT", b"a;b\n", "text/csv", "mine")


@pytest.mark.parametrize("status", [400, 401, 403, 404, 405, 409, 410, 422, 451])
async def test_client_error_is_permanent(status: int) -> None:
    async with service(web.Response(status=status, text="no such customer")) as server, bench() as made:
        error = await failure_of(made, http(f"{server.url}/x"))
    assert (error.type, error.non_retryable, error.next_retry_delay) == ("handler_failed", True, None)
    assert f"POST {server.url}/x answered {status}" in error.message
    assert "no such customer" in error.message
    assert details_of(error)["status"] == status
    assert details_of(error)["body"] == "no such customer"


@pytest.mark.parametrize("status", [408, 425, 429, 500, 502, 503, 504, 599])
async def test_passing_error_is_tried_again_after_the_back_off(status: int) -> None:
    retry = RetryRequest(max_attempts=5, backoff="exponential", initial=10, max=300)
    async with service(web.Response(status=status)) as server, bench() as made:
        made.at_attempt(2)
        error = await failure_of(made, step_call("http", {"url": server.url}, retry=retry))
    assert not error.non_retryable
    assert error.next_retry_delay == timedelta(seconds=20)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_redirect_is_permanent_and_not_followed(status: int) -> None:
    headers = {"Location": "http://user:hunter2@elsewhere.test/new?token=t0ken"}
    async with service(web.Response(status=status, headers=headers)) as server, bench() as made:
        error = await failure_of(made, http(server.url))
    assert error.non_retryable
    assert len(server.requests) == 1
    assert "http://elsewhere.test/new?…" in error.message
    assert "hunter2" not in error.message
    assert "t0ken" not in error.message


async def test_expected_statuses_replace_2xx() -> None:
    async with service(web.Response(status=404)) as server, bench() as made:
        assert (await made.run(http(server.url, expect_status=[200, 404]))).output == {"status": 404, "body": ""}
    async with service(web.Response(status=200)) as server, bench() as made:
        error = await failure_of(made, http(server.url, expect_status=[201]))
    assert not error.non_retryable


@pytest.mark.parametrize(
    ("header", "least", "most"),
    [
        ("42", 42, 42),
        ("1", 10, 10),
        ("100000", 86_400, 86_400),
        ("in ten minutes", 500, 600),
        ("soon", 10, 10),
    ],
)
async def test_retry_after_is_obeyed(header: str, least: int, most: int) -> None:
    if header == "in ten minutes":
        header = format_datetime(datetime.now(UTC) + timedelta(seconds=600), usegmt=True)
    async with service(web.Response(status=503, headers={"Retry-After": header})) as server, bench() as made:
        error = await failure_of(made, http(server.url))
    assert error.next_retry_delay is not None
    assert least <= error.next_retry_delay.total_seconds() <= most


async def _drop(request: web.Request) -> web.StreamResponse:
    assert request.transport is not None
    request.transport.abort()
    return web.Response()


async def _half(request: web.Request) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Length": "100"})
    await response.prepare(request)
    await response.write(b"half")
    assert request.transport is not None
    request.transport.close()
    return response


@pytest.mark.parametrize("answer", [_drop, _half])
async def test_broken_connection_is_tried_again(answer: Callable[[web.Request], Awaitable[web.StreamResponse]]) -> None:
    async with service(answer) as server, bench() as made:
        error = await failure_of(made, http(server.url))
    assert (error.type, error.non_retryable) == ("handler_failed", False)
    assert "got no" in error.message


async def test_refused_connection_is_tried_again() -> None:
    async with service(web.Response()) as server:
        url = server.url
    async with bench() as made:
        error = await failure_of(made, http(url))
    assert not error.non_retryable
    assert "got no answer" in error.message


async def test_an_answer_that_is_not_http_is_tried_again() -> None:
    async def talk(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"220 mail.test ESMTP\r\n")
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(talk, "127.0.0.1", 0)
    async with server, bench() as made:
        error = await failure_of(made, http(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"))
    assert not error.non_retryable


async def _hang(_request: web.Request) -> web.StreamResponse:
    await asyncio.sleep(60)
    return web.Response()


async def test_a_silent_service_ends_the_attempt_at_its_timeout() -> None:
    async with service(_hang) as server, bench() as made:
        error = await failure_of(made, step_call("http", {"url": f"{server.url}/slow", "method": "GET"}, timeout=0.2))
    assert (error.type, error.non_retryable, error.message) == ("handler_timeout", False, "timed out after 0.2 s")
    assert details_of(error)["request"] == f"GET {server.url}/slow"


async def test_a_body_without_end_is_cut_and_given_up() -> None:
    async def endless(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        while True:
            await response.write(b"0123456789abcdef" * 256)

    async with service(endless) as server, bench() as made:
        result = await made.run(http(server.url))
    assert result.output["body"] == "0123456789abcdef" * 1024 + "… [cut after 16384 bytes]"


@pytest.mark.parametrize(
    ("body", "charset", "expected"),
    [
        (b'{"a": [1, null]}', "utf-8", {"a": [1, None]}),
        (b'{"a": NaN}', "utf-8", '{"a": NaN}'),
        (b'{"a": ', "utf-8", '{"a": '),
        (b"[" * 10_000, "utf-8", "[" * 10_000),
        (b"1" * 5_000, "utf-8", "1" * 5_000),
        (b"", "utf-8", ""),
        ("ü".encode("latin-1"), "latin-1", "ü"),
        (b"\xff", "utf-8", "\ufffd"),
        (b"x", "no-such", "x"),
        (b"00", "hex", "00"),
    ],
)
async def test_body_is_json_when_it_is_whole_json_else_text(body: bytes, charset: str, expected: Any) -> None:
    answer = web.Response(body=body, headers={"Content-Type": f"text/plain; charset={charset}"})
    async with service(answer) as server, bench() as made:
        assert (await made.run(http(server.url))).output == {"status": 200, "body": expected}


async def test_a_packed_body_is_not_unpacked() -> None:
    """A few bytes can unpack to gigabytes."""
    for body in (gzip.compress(b"0" * 1000), b"no gzip at all"):
        answer = web.Response(body=body, headers={"Content-Encoding": "gzip"})
        async with service(answer) as server, bench() as made:
            assert (await made.run(http(server.url))).output["body"] == "[gzip data, not shown]"


async def test_secrets_are_sent_and_not_given_back() -> None:
    async def echo(request: web.Request) -> web.StreamResponse:
        told = {"auth": request.headers["Authorization"], "basic": request.headers["X-Basic"], "q": request.path_qs}
        return web.json_response(told, status=int(request.query["status"]))

    basic = base64.b64encode(b"someone:s3same/open").decode()
    params = {"headers": {"Authorization": "Bearer ${secret:TOKEN}", "X-Basic": f"Basic {basic}"}}
    async with service(echo) as server, bench(secrets={"TOKEN": "s3same/open"}) as made:
        result = await made.run(http(f"{server.url}/?status=200&k=${{secret:TOKEN}}", **params))
        error = await failure_of(made, http(f"{server.url}/?status=400&k=${{secret:TOKEN}}", **params))
    assert server.requests[0][2]["Authorization"] == "Bearer s3same/open"
    told = f"{result} {error.message} {error.details} {made.facts}"
    assert result.output["body"]["auth"] == "Bearer ***"
    assert "s3same" not in told
    assert basic not in told


async def _refuse_and_echo(request: web.Request) -> web.StreamResponse:
    return web.Response(status=500, text=f"no {request.raw_path} and {request.path} at {request.host}")


@pytest.mark.parametrize(
    ("url", "secret", "shown", "inside"),
    [
        (
            "${secret:HOOK}",
            "{url}/services/T00/PATHTOKEN?wait=true",
            "${secret:HOOK}",
            ["PATHTOKEN", "T00", "services"],
        ),
        ("{url}/a/${secret:HOOK}", "pa ss+w!ord", "{url}/a/${secret:HOOK}", ["ss+w!ord"]),
        ("{url}/${secret:HOOK}?k=1", "PaSs/wört", "{url}/${secret:HOOK}?…", ["wört", "w%C3%B6rt", "PaSs"]),
    ],
)
async def test_an_address_is_shown_as_it_is_written_and_its_secrets_in_no_spelling(
    url: str, secret: str, shown: str, inside: list[str]
) -> None:
    async with service(_refuse_and_echo) as server:
        url, secret, shown = (text.replace("{url}", server.url) for text in (url, secret, shown))
        async with bench(secrets={"HOOK": secret}) as made:
            error = await failure_of(made, http(url))
    assert error.message.startswith(f"POST {shown} answered 500")
    assert not [part for part in inside if part in f"{error.message} {error.details}"]


@pytest.mark.parametrize("host", ["NoSuchHost.Secret-Domain.invalid", "127.0.0.1:1"])
async def test_a_secret_host_that_cannot_be_reached_is_not_named(host: str) -> None:
    async with bench(secrets={"HOST": host}) as made:
        error = await failure_of(made, http("http://${secret:HOST}/x"))
    assert error.message.startswith("POST http://${secret:HOST}/x got no answer: ")
    assert "secret-domain" not in f"{error.message} {error.details}".lower()
    assert "127.0.0.1" not in f"{error.message} {error.details}"


@pytest.mark.parametrize(
    "body", [b'{"pad": "%s", "token": "%s"}' % (b"x" * 174, b"s3same/open"), b"x" * 195 + b"s3same/open"]
)
async def test_no_part_of_a_secret_is_left_where_a_message_is_cut(body: bytes) -> None:
    async with service(web.Response(status=400, body=body)) as server, bench(secrets={"TOKEN": "s3same/open"}) as made:
        error = await failure_of(made, http(server.url, headers={"X": "${secret:TOKEN}"}))
    assert "s3s" not in error.message


async def test_no_part_of_a_secret_is_left_where_a_body_is_cut() -> None:
    body = b"x" * 16_380 + b"s3same/open"
    async with service(web.Response(body=body)) as server, bench(secrets={"TOKEN": "s3same/open"}) as made:
        result = await made.run(http(server.url, headers={"X": "${secret:TOKEN}"}))
    assert result.output["body"] == "x" * 16_380 + "… [cut after 16384 bytes]"


async def test_user_and_password_in_the_address_authenticate_and_stay_out_of_messages() -> None:
    async with service(web.Response(status=401)) as server, bench() as made:
        error = await failure_of(made, http(server.url.replace("//", "//admin:hunter2@")))
    assert server.requests[0][2]["Authorization"] == "Basic " + base64.b64encode(b"admin:hunter2").decode()
    assert "hunter2" not in f"{error.message} {error.details}"


@pytest.mark.parametrize(
    ("params", "said"),
    [
        ({"url": "billing.internal/x"}, "is not an address like https://host/path"),
        ({"url": "ftp://admin:hunter2@host/x"}, "is not an address like https://host/path"),
        ({"url": "http://admin:hunter2@host:99999/"}, "is not an address like https://host/path"),
        ({"url": "http://127.0.0.1:1/", "json": {}, "body": "x"}, "exclude each other"),
        ({"url": "http://127.0.0.1:1/", "methode": "GET"}, "`methode` is not a parameter"),
        ({"url": "http://127.0.0.1:1/", "method": "BREW"}, "`method`"),
        ({}, "`url` is required"),
        ({"url": "http://127.0.0.1:9", "json": {"a": "hunter2 \ud800"}}, "half a character"),
        ({"url": "http://127.0.0.1:9", "body": "hunter2 \ud800"}, "half a character"),
    ],
)
async def test_a_request_that_cannot_be_sent_is_a_permanent_error(params: dict[str, Any], said: str) -> None:
    async with bench() as made:
        error = await failure_of(made, step_call("http", params))
    assert error.non_retryable
    assert said in error.message
    assert "hunter2" not in error.message


async def test_a_line_break_in_a_header_is_a_permanent_error_that_does_not_quote_it() -> None:
    async with service(web.Response()) as server, bench() as made:
        error = await failure_of(made, http(server.url, headers={"X": "a\r\nY: hunter2"}))
    assert error.non_retryable
    assert "the header `X` has a line break" in error.message
    assert "hunter2" not in error.message
    assert server.requests == []
