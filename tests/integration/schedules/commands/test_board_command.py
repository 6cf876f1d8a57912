"""The board as a command: its options, its pages over HTTP, who may read them, and a server that is away."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
from base64 import b64encode
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from zipfile import ZipFile

import aiohttp
import pytest
from multidict import CIMultiDictProxy

from schedules.board.files import page_files
from schedules.text.address import host_and_port
from tests.processes import ROOT, Running, run_command, started
from tests.servers import HOST, DevServer, free_port

DAY, EIGHT = 86_400, 8 * 3600
SPEC = """\
version: 1
project: {project}
defaults: {{timezone: UTC, timeout: 1m}}
jobs:
  {project}-daily: {{schedule: "0 8 * * *", run: {{command: ["true"]}}}}
"""


async def url_of(board: Running) -> str:
    line: str = await board.until(lambda: next((each for each in board.err if "board is at" in each), ""), "no URL")
    return line.rsplit(maxsplit=1)[-1]


@asynccontextmanager
async def board_of(server: DevServer | None, *words: str | Path, **env: str) -> AsyncIterator[tuple[str, Running]]:
    """Without a server there is nobody at the address of Temporal."""
    address = server.address if server else f"{HOST}:{free_port()}"
    given = {"TEMPORAL_ADDRESS": address, "TICKWRIGHT_HTTP_ADDRESS": f"{HOST}:0", **env}
    async with started("schedules", "board", "--interval", "1s", *words, env=given) as board:
        yield await url_of(board), board


async def get(url: str, method: str = "GET", **headers: str) -> tuple[int, CIMultiDictProxy[str], str]:
    given = {name.replace("_", "-"): value for name, value in headers.items()}
    async with aiohttp.ClientSession() as session, session.request(method, url, headers=given) as answer:
        return answer.status, answer.headers, await answer.text()


async def until_ready(url: str) -> None:
    """Waits for the first look."""
    async with asyncio.timeout(60):
        while True:
            if (await get(f"{url}readyz"))[0] == 200:
                return
            await asyncio.sleep(0.2)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--address", "nowhere"], "--address: 'nowhere' is no address"),
        (["--interval", "0s"], "--interval 0s: write 1s or more"),
        (["--rate", "0"], "0 is not a whole number of at least 1"),
        (
            ["--ui", "javascript:alert(1)"],
            "--ui javascript:alert(1): write an address that begins with http:// or https://",
        ),
        (["no-such-file.yaml"], "no-such-file.yaml"),
        (["--env", "prod"], "--env: environments are in the spec files; write their PATH, too"),
    ],
)
async def test_a_wrong_command_line_ends_it_with_2(words: list[str], said: str) -> None:
    done = await run_command("schedules", "board", *words)
    assert (done.code, said in done.stderr) == (2, True), done.stderr


async def test_its_pages_say_what_a_browser_may_do_and_take_no_other_method() -> None:
    async with board_of(None) as (url, _):
        status, headers, text = await get(url)
        assert (status, headers["Content-Type"], headers["X-Content-Type-Options"]) == (
            200,
            "text/html; charset=utf-8",
            "nosniff",
        )
        policy = headers["Content-Security-Policy"]
        assert "default-src 'none'; script-src 'self'; style-src 'self'" in policy
        assert "unsafe" not in policy
        assert "onload=" not in text
        assert (await get(url, "HEAD"))[::2] == (200, "")
        tag = headers["ETag"]
        assert (await get(url, If_None_Match=tag))[::2] == (304, "")
        for name, kind in {"board.js": "text/javascript", "board.css": "text/css", "icon.svg": "image/svg+xml"}.items():
            assert (await get(url + name))[1]["Content-Type"].startswith(kind)
        for path, method, expected in [
            ("nothing", "GET", 404),
            ("../board.py", "GET", 404),
            ("%2e%2e/serve.py", "GET", 404),
            ("", "POST", 405),
            ("data", "DELETE", 405),
        ]:
            status, headers, text = await get(url + path, method)
            assert (status, "Content-Security-Policy" in headers, "Traceback" in text) == (expected, True, False)


@pytest.mark.parametrize(
    "query",
    [
        "",
        "?job=x",
        "?job=x&at=soon",
        "?job=x&at=-1",
        "?job=x&at=99999999999999999999",
        "?job=x&at=١٢",
        "?job=&at=1800000000",
        f"?job={'n' * 2_000}&at=1800000000",
    ],
)
@pytest.mark.parametrize("path", ["story", "occurrences"])
async def test_what_is_no_question_is_told_so(path: str, query: str, away: str) -> None:
    assert (await get(f"{away}{path}{query}"))[::2] == (400, "give job=NAME and at=UNIX_SECONDS\n")


async def test_a_job_that_the_board_does_not_know_is_not_asked_for(away: str) -> None:
    assert (await get(f"{away}story?job=x&at=1800000000"))[::2] == (404, "the board knows no such job\n")


@pytest.fixture
async def away() -> AsyncIterator[str]:
    async with board_of(None) as (url, _):
        yield url


async def test_a_token_is_asked_for_in_both_ways_and_taken_in_both() -> None:
    async with board_of(None, TICKWRIGHT_HTTP_TOKEN="sesame") as (url, _):
        for path in ("", "data", "board.js", "story?job=x&at=1800000000", "nothing"):
            status, headers, text = await get(url + path)
            assert (status, text) == (401, "a token is needed\n")
            assert [each.partition(" ")[0] for each in headers.getall("WWW-Authenticate")] == ["Bearer", "Basic"]
        assert (await get(f"{url}livez"))[0] == 200
        good, wrong = (b64encode(f"anyone:{word}".encode()).decode() for word in ("sesame", "sesam"))
        for authorization, expected in {
            "Bearer sesame": 200,
            f"Basic {good}": 200,
            "Bearer sesam": 401,
            f"Basic {wrong}": 401,
            "Basic %%%": 401,
            f"Basic {b64encode(b'sesame').decode()}": 401,
            "sesame": 401,
        }.items():
            assert (await get(url, Authorization=authorization))[0] == expected, authorization


async def test_without_a_token_a_foreign_host_name_is_refused_and_a_named_one_is_not() -> None:
    async with board_of(None, "--host", "Board.internal") as (url, _):
        for host, expected in {
            "localhost:9466": 200,
            "127.0.0.1": 200,
            "[::1]:9466": 200,
            "localhost.:9466": 200,
            "a.localhost": 200,
            "board.internal": 200,
            "Board.Internal.": 200,
            "[fe80::1%25eth0]:9466": 403,
            "fe80::1%eth0evil.example": 403,
            ".": 403,
            "evil.example": 403,
            "127.0.0.1.evil.example:9466": 403,
        }.items():
            assert (await get(f"{url}data", Host=host))[0] == expected, host
        assert (await get(f"{url}data", Sec_Fetch_Site="cross-site", Sec_Fetch_Mode="cors"))[0] == 403
        assert (await get(url, Sec_Fetch_Site="cross-site", Sec_Fetch_Mode="navigate"))[0] == 200


async def raw(url: str, request: bytes) -> bytes:
    """The answer's first line."""
    reader, writer = await asyncio.open_connection(*host_and_port(url.removeprefix("http://").rstrip("/")))
    writer.write(request)
    async with asyncio.timeout(60):
        line = await reader.readline()
    writer.close()
    await writer.wait_closed()
    return line


@pytest.mark.parametrize(
    "request_bytes",
    [
        b"GET / HTTP/1.1\r\n\r\n",
        b"GET /" + b"x" * 9_000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: localhost\r\nX-Long: " + b"x" * 9_000 + b"\r\n\r\n",
        "GET /data?job=ü HTTP/1.1\r\nHost: localhost\r\n\r\n".encode(),
        b"GET / HTTP/1.1\r\nHost: localhost\r\nno header\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\r\n\r\n",
    ],
    ids=["no Host", "long URL", "long header", "not ASCII", "no header", "TLS"],
)
async def test_a_malformed_request_is_told_so_and_fills_no_log(request_bytes: bytes) -> None:
    async with board_of(None, TICKWRIGHT_HTTP_TOKEN="sesame") as (url, board):
        before = len(board.err)
        assert (await raw(url, request_bytes)).split()[1][:1] == b"4"
        assert (await get(f"{url}livez"))[0] == 200
        board.signal(signal.SIGTERM)
        assert await board.wait() == 0
        assert [line for line in board.err[before:] if "reach Temporal" not in line] == []


async def test_an_address_that_is_wrong_is_named_by_where_it_was_given() -> None:
    empty = await run_command("schedules", "board", env={"TICKWRIGHT_HTTP_ADDRESS": ""})
    assert (empty.code, "TICKWRIGHT_HTTP_ADDRESS: '' is no address" in empty.stderr) == (2, True), empty.stderr
    both = await run_command("schedules", "board", "--address", "nowhere", env={"TICKWRIGHT_HTTP_ADDRESS": ""})
    assert (both.code, "--address: 'nowhere' is no address" in both.stderr) == (2, True), both.stderr


async def test_it_tells_of_a_server_that_is_away_and_ends_in_order() -> None:
    async with board_of(None) as (url, board):
        await board.until(lambda: any("cannot reach Temporal" in line for line in board.err), "not a word")
        status, headers, text = await get(f"{url}data")
        assert status == 200
        assert "cannot reach Temporal" in text
        assert (await get(f"{url}data", If_None_Match=headers["ETag"]))[0] == 304
        assert (await get(f"{url}readyz"))[0] == 503
        board.signal(signal.SIGTERM)
        assert await board.wait() == 0


async def test_it_shows_the_jobs_of_an_owner_and_tells_the_story_of_a_time(
    server: DevServer, tmp_path: Path, name: str
) -> None:
    (tmp_path / "spec.yaml").write_text(SPEC.format(project=name))
    assert (await run_command("schedules.sync", tmp_path / "spec.yaml", env=server.environ)).code == 0
    async with board_of(server, "--owner", f"{name}/default") as (url, _):
        await until_ready(url)
        assert f"{name}-daily" in (await get(f"{url}data"))[2]
        now = int(datetime.now(UTC).timestamp())
        at = now - (now - EIGHT) % DAY
        status, _, text = await get(f"{url}story?job={name}-daily&at={at}")
        assert (status, "the schedule did not exist yet" in text) == (200, True)
        assert (await get(f"{url}occurrences?job={name}-daily&at={at}"))[::2] == (200, "[]")


def test_a_built_wheel_has_the_files_of_the_page(tmp_path: Path) -> None:
    argv = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(argv, cwd=ROOT, check=True, capture_output=True)
    [wheel] = tmp_path.glob("*.whl")
    names = set(ZipFile(wheel).namelist())
    assert {f"schedules/board/page/{name}" for name in page_files()} <= names
