"""The `http` handler: one request to a service, told apart into done, try again and give up."""

from __future__ import annotations

import json
import os
import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Literal

import aiohttp
from pydantic import BaseModel, ConfigDict, Field
from yarl import URL

from activities.errors import HandlerError
from activities.handlers.address import as_written, disguises, shown_address, shown_location
from activities.handlers.proxy import proxied
from activities.handlers.response import Capture, capture
from activities.handlers.retry_after import seconds_to_wait
from activities.steps.output import cut_end
from activities.steps.params import parse_params
from activities.steps.readable import readable_text
from activities.steps.template import secrets_used

if TYPE_CHECKING:
    from activities.handlers.table import Parts
    from activities.steps.attempt import Attempt
    from activities.steps.redact import Redactor

CONNECT_TIMEOUT = 30
_PASSING_4XX = frozenset({408, 425, 429})
_SHOWN_BODY = 200
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")


class HttpParams(BaseModel):
    """The request; `expect_status` empty means any 2xx."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    url: str
    method: Literal["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"] = "POST"
    headers: dict[str, str] = Field(default_factory=dict)
    json_body: Any = Field(None, alias="json")
    body: str | None = None
    expect_status: tuple[int, ...] = ()


def open_session() -> aiohttp.ClientSession:
    """A session that suits jobs: no shared cookies or idle connections, bodies as sent.

    It takes nothing from the environment by itself, which would include the passwords of `~/.netrc`; see `proxied`.
    """
    return aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(force_close=True, limit=0),
        cookie_jar=aiohttp.DummyCookieJar(),
        auto_decompress=False,
        read_bufsize=16 * 1024,
    )


class HttpHandler:
    """Sends requests over the worker's session."""

    def __init__(self, parts: Parts) -> None:
        self._session = parts.http_session

    def problem(self, params: dict[str, Any]) -> str:
        """See Handler: every worker can send requests."""
        del params
        return ""

    async def run(self, params: dict[str, Any], attempt: Attempt) -> dict[str, Any]:
        """`{"status": …, "body": …}` of an expected answer; `body` is JSON if it is whole, else text, cut at 16 KiB.

        Raises HandlerError: permanent for 4xx except 408, 425 and 429, and for redirects, which are never
        followed (a POST would become a GET and secrets would go to another host); all else may be tried again,
        at the earliest after `Retry-After`.
        """
        request = parse_params(HttpParams, params)
        url = _url(request.url)
        shown = f"{request.method} {_written(request.url, attempt)}"
        attempt.evidence["request"] = shown
        body, headers = _body(request), _headers(request, attempt.idempotency_key)
        _check_headers(headers, url)
        answer = await self._send(request.method, url, body, proxied(url, headers), shown)
        output = {"status": answer.status, "body": answer.body(attempt.redactor)}
        expected = request.expect_status or range(200, 300)
        if answer.status in expected:
            return output
        raise _refused(shown, answer, output, attempt.redactor)

    async def _send(self, method: str, url: URL, body: bytes | None, options: dict[str, Any], shown: str) -> Capture:
        try:
            async with self._session().request(
                method,
                url,
                data=body,
                allow_redirects=False,
                timeout=aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_TIMEOUT),
                **options,
            ) as response:
                return await capture(response)
        except (aiohttp.ClientConnectionError, OSError) as error:
            failure = HandlerError(f"{shown} got no answer: {_reason(error)}", kind="no answer")
        except ValueError as error:
            # What is known to be no request has been told before; the message may quote whatever is secret in it.
            failure = HandlerError(
                f"{shown} could not be sent: {type(error).__name__} in the HTTP library", kind="not sent"
            )
        except aiohttp.ClientError as error:
            reason = error.message if isinstance(error, aiohttp.ClientResponseError) else str(error)
            failure = HandlerError(f"{shown} got no proper answer: {reason or type(error).__name__}", kind="no answer")
        raise failure


HANDLER = HttpHandler


def _reason(error: Exception) -> str:
    """In the system's words where there are some: the library's name the host, as looked up and in its own spelling."""
    if isinstance(error, aiohttp.ClientConnectorError) and not isinstance(error, aiohttp.ClientSSLError):
        code = error.os_error.errno
        return os.strerror(code) if code is not None and code > 0 else error.os_error.strerror or type(error).__name__
    return str(error) or type(error).__name__


def _refused(shown: str, answer: Capture, output: dict[str, Any], redactor: Redactor) -> HandlerError:
    redirect = 300 <= answer.status < 400  # noqa: PLR2004  the classes of RFC 9110
    client_error = 400 <= answer.status < 500 and answer.status not in _PASSING_4XX  # noqa: PLR2004  as above
    message = f"{shown} answered {answer.status} {answer.reason}".rstrip()
    if redirect:
        message += f"; redirects are not followed; write the final address ({shown_location(answer.location)}) as `url`"
    elif output["body"]:
        body = redactor.value(output["body"])  # before it is cut, or half a secret might be left
        text = body if isinstance(body, str) else json.dumps(body, ensure_ascii=False)
        message += f": {cut_end(text, _SHOWN_BODY)}"
    return HandlerError(
        message,
        permanent=redirect or client_error,
        retry_after=seconds_to_wait(answer.retry_after, datetime.now(UTC)),
        details=output,
        kind=f"status {answer.status}",
    )


def _url(text: str) -> URL:
    try:
        return as_written(text)
    except ValueError:
        pass  # Its message quotes the address, with whatever is secret in it.
    raise HandlerError("`url` is not an address like https://host/path", permanent=True)


def _written(text: str, attempt: Attempt) -> str:
    """The address as the spec has it; what a service or library makes of its secrets is redacted from now on."""
    written = attempt.written(attempt.call.step.params["url"])
    if secrets_used(attempt.call.step.params["url"]):
        for disguise in disguises(URL(text), written):
            attempt.redactor.add(disguise)
    return shown_address(written)


def _check_headers(headers: dict[str, str], url: URL) -> None:
    """Raises a permanent HandlerError for what is no header, and names it: names have no secret in them."""
    for name, value in headers.items():
        if not _TOKEN.fullmatch(name):
            raise HandlerError(f"`{name}` is not the name of a header", permanent=True)
        if fault := _value_fault(value):
            raise HandlerError(f"the header `{name}` has {fault} in its value", permanent=True)
    if (url.user is not None or url.password is not None) and "authorization" in map(str.lower, headers):
        raise HandlerError(
            "`url` has a user or password, and `headers` has `Authorization`, which is the same header; keep one of them",
            permanent=True,
        )


def _value_fault(value: str) -> str:
    if _CONTROL.search(value):
        return "a line break or another control character"
    return "half a character (a lone surrogate)" if readable_text(value) is not value else ""


def _body(request: HttpParams) -> bytes | None:
    """The same bytes in every attempt: an Idempotency-Key stands for one body."""
    text = request.body
    if request.json_body is not None:
        if text is not None:
            raise HandlerError("`json` and `body` exclude each other; write one of them", permanent=True)
        text = _json(request.json_body)
    try:
        return None if text is None else text.encode()
    except UnicodeEncodeError:
        pass  # Its message quotes the body, with whatever is secret in it.
    raise HandlerError("the body has half a character (a lone surrogate), which UTF-8 cannot hold", permanent=True)


def _json(value: Any) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False)
    except (ValueError, RecursionError):
        pass
    raise HandlerError(
        "`json` has an infinite number or NaN, or is nested too deep, which JSON does not allow", permanent=True
    )


def _headers(request: HttpParams, key: str) -> dict[str, str]:
    kind = "text/plain; charset=utf-8" if request.json_body is None else "application/json"
    defaults = {"Idempotency-Key": key, "User-Agent": "tickwright", "Accept-Encoding": "identity"}
    if request.body is not None or request.json_body is not None:
        defaults["Content-Type"] = kind
    return defaults | request.headers  # aiohttp takes the later of two that differ only in case
