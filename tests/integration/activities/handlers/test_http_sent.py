"""What of an `http` step arrives at a server, byte by byte: the address as written, and nothing from the machine that nobody asked for."""

from __future__ import annotations

import asyncio
from base64 import b64encode
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from activities.contract import StepCall
from tests.integration.step_failures import failure_of
from tests.step_calls import bench, step_call

pytestmark = pytest.mark.asyncio
VARIABLES = ("http_proxy", "https_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "NETRC")


class Wire:
    """The head of each request, line by line."""

    def __init__(self) -> None:
        self.heads: list[list[str]] = []
        self.port = 0

    @property
    def targets(self) -> list[str]:
        return [head[0].split(" ")[1] for head in self.heads]

    def header(self, name: str) -> list[str]:
        """Its values in the last request."""
        pairs = [line.partition(": ") for line in self.heads[-1][1:]]
        return [value for key, _, value in pairs if key.lower() == name.lower()]


@asynccontextmanager
async def wire(answer: str = "200 OK") -> AsyncIterator[Wire]:
    """A server that takes down what it is sent, also as a proxy."""
    made = Wire()

    async def respond(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        made.heads.append(head.split("\r\n")[:-2])
        writer.write(f"HTTP/1.1 {answer}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".encode())
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(respond, "127.0.0.1", 0)
    made.port = server.sockets[0].getsockname()[1]
    async with server:
        yield made


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))


def get(url: str, **params: Any) -> StepCall:
    return step_call("http", {"url": url, "method": "GET", **params})


@pytest.mark.parametrize(
    ("written", "sent"),
    [
        ("/f%28a%29?t=application%2Fgzip", "/f%28a%29?t=application%2Fgzip"),
        ("/hook?", "/hook?"),
        ("?", "/?"),
        ("", "/"),
        ("?a=1", "/?a=1"),
        ("/a/../b/./c//d", "/a/../b/./c//d"),
        ("/%7Euser/~user/%41", "/%7Euser/~user/%41"),
        ("/x?a=b+c&d=%20&e=/?:@!$'()*,;", "/x?a=b+c&d=%20&e=/?:@!$'()*,;"),
        ("/x?a=1&a=2&&b", "/x?a=1&a=2&&b"),
        ("/100%?a=%zz", "/100%?a=%zz"),
        ("/ü 1?q=\u20ac", "/%C3%BC%201?q=%E2%82%AC"),
        ('/x?q=<"{{}}|\\^`>', "/x?q=%3C%22%7B%7D%7C%5C%5E%60%3E"),
        ("/x#fragment?no", "/x"),
        ("/x?a#fragment", "/x?a"),
    ],
)
async def test_the_address_is_sent_as_it_is_written(written: str, sent: str) -> None:
    async with wire() as server, bench() as made:
        await made.run(get(f"http://127.0.0.1:{server.port}{written}"))
    assert server.targets == [sent]
    assert server.header("Host") == [f"127.0.0.1:{server.port}"]


@pytest.mark.parametrize("file", [".netrc", "_netrc"])
async def test_no_password_of_a_file_is_sent(tmp_path: Path, file: str, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / file).write_text("machine 127.0.0.1 login a password b\ndefault login c password d\n")
    (tmp_path / file).chmod(0o600)
    monkeypatch.setenv("NETRC", str(tmp_path / file))
    async with wire() as server, bench() as made:
        url = f"http://127.0.0.1:{server.port}/x"
        await made.run(get(url))
        assert server.header("Authorization") == []
        await made.run(get(url, headers={"Authorization": "Bearer t"}))
        assert server.header("Authorization") == ["Bearer t"]
        await made.run(get(url.replace("http://", "http://u%40x:p%3A1@")))
        assert server.header("Authorization") == [f"Basic {b64encode(b'u@x:p:1').decode()}"]


@pytest.mark.parametrize("scheme", ["", "http://"])
@pytest.mark.parametrize("variable", ["http_proxy", "HTTP_PROXY"])
@pytest.mark.parametrize("user", ["", "u%40x:p%3A1@"])
async def test_the_proxy_of_the_environment_is_used(
    scheme: str, variable: str, user: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with wire() as proxy, bench() as made:
        monkeypatch.setenv(variable, f"{scheme}{user}127.0.0.1:{proxy.port}")
        await made.run(get("http://billing.internal:8080/f%28a?"))
        assert proxy.targets == ["http://billing.internal:8080/f%28a?"]
        assert proxy.header("Proxy-Authorization") == ([f"Basic {b64encode(b'u@x:p:1').decode()}"] if user else [])
        assert proxy.header("Authorization") == []


@pytest.mark.parametrize("user", ["", "u:p@"])
async def test_a_tunnel_is_asked_for_with_the_password_of_the_proxy_alone(
    user: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with wire("407 Proxy Authentication Required") as proxy, bench() as made:
        monkeypatch.setenv("https_proxy", f"{user}127.0.0.1:{proxy.port}")
        error = await failure_of(made, get("https://billing.internal/x", headers={"Authorization": "Bearer t"}))
        assert proxy.heads[0][0].startswith("CONNECT billing.internal:443 ")
        assert proxy.header("Proxy-Authorization") == ([f"Basic {b64encode(b'u:p').decode()}"] if user else [])
        assert proxy.header("Authorization") == []
    assert not error.non_retryable


@pytest.mark.parametrize("hosts", ["127.0.0.1", "*", "internal,127.0.0.1"])
async def test_hosts_of_no_proxy_are_asked_directly(hosts: str, monkeypatch: pytest.MonkeyPatch) -> None:
    async with wire() as server, bench() as made:
        monkeypatch.setenv("http_proxy", "proxy.invalid:1")
        monkeypatch.setenv("no_proxy", hosts)
        await made.run(get(f"http://127.0.0.1:{server.port}/x"))
    assert server.targets == ["/x"]


@pytest.mark.parametrize("text", ["socks5://127.0.0.1:1", "http://", "http://[", "http://u:hunter2@"])
async def test_a_proxy_that_is_none_is_named_by_its_variable_and_may_be_mended(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", text)
    async with bench() as made:
        error = await failure_of(made, get("http://127.0.0.1:9/x"))
    assert "`HTTP_PROXY` is not a usable proxy" in error.message
    assert "hunter2" not in error.message
    assert not error.non_retryable


@pytest.mark.parametrize(
    ("params", "said"),
    [
        ({"json": {"x": float("inf")}}, "`json` has an infinite number"),
        ({"json": [float("nan")]}, "`json` has an infinite number"),
        ({"headers": {"X-A": "a\nb"}}, "the header `X-A` has a line break"),
        ({"headers": {"X-A": "a\0b"}}, "the header `X-A` has a line break or another control character"),
        ({"headers": {"X-A": "a\ud83d"}}, "the header `X-A` has half a character"),
        ({"headers": {"X A": "a"}}, "`X A` is not the name of a header"),
        ({"body": "a\ud83d"}, "the body has half a character"),
        ({"headers": {"authorization": "t"}, "url": "http://u:p@127.0.0.1:9/"}, "keep one"),
        ({"url": "http://:80/"}, "`url` is not an address"),
        ({"url": "ftp://x/"}, "`url` is not an address"),
    ],
)
async def test_each_fault_has_a_message_of_its_own_and_no_attempt_can_mend_it(
    params: dict[str, Any], said: str
) -> None:
    async with bench() as made:
        error = await failure_of(made, get(**{"url": "http://127.0.0.1:9/x", **params}))
    assert said in error.message
    assert error.non_retryable
