"""What the Dockerfile promises, as far as it goes without Docker."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import threading
import tomllib
import venv
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING
from zipfile import ZipFile

import pytest

from tests.processes import run_command
from tests.readme import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator

DOCKERFILE = (ROOT / "Dockerfile").read_text().replace("\\\n", "")
VENV = "/opt/tickwright"
ENV = dict(
    pair.split("=", 1) for line in re.findall(r"^ENV (.+)$", DOCKERFILE, re.MULTILINE) for pair in line.split(" ")
)
BAD = 503


class _Answers(BaseHTTPRequestHandler):
    """Well at /livez, not ready at /readyz."""

    def do_GET(self) -> None:
        body = b"ok" if self.path == "/livez" else b"draining"
        self.send_response(200 if self.path == "/livez" else BAD)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def port() -> Iterator[int]:
    with ThreadingHTTPServer(("127.0.0.1", 0), _Answers) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server.server_port
        server.shutdown()
        thread.join()


def checked() -> list[str]:
    """The words after `python -P -m` of the image's health check: a `worker.py` of the user's does not take its place."""
    words: list[str] = json.loads(re.findall(r"^HEALTHCHECK .*CMD (\[.+\])$", DOCKERFILE, re.MULTILINE)[0])
    assert words[:3] == ["python", "-P", "-m"]
    return words[3:]


@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0", "localhost"])
async def test_the_check_asks_at_the_address_that_is_set(host: str, port: int) -> None:
    done = await run_command(*checked(), env={"TICKWRIGHT_HTTP_ADDRESS": f"{host}:{port}"})
    assert (done.code, done.stderr) == (0, "")


async def test_the_check_asks_no_proxy(port: int) -> None:
    nowhere = "http://127.0.0.1:9"
    proxies = {"http_proxy": nowhere, "HTTP_PROXY": nowhere, "all_proxy": nowhere}
    done = await run_command(*checked(), env={"TICKWRIGHT_HTTP_ADDRESS": f"127.0.0.1:{port}", **proxies})
    assert (done.code, done.stderr) == (0, "")


async def test_the_check_of_another_page_fails_and_says_why(port: int) -> None:
    address = f"127.0.0.1:{port}"
    done = await run_command("worker.probe", "/readyz", env={"TICKWRIGHT_HTTP_ADDRESS": address})
    assert (done.code, done.stderr) == (1, f"{address}/readyz: 503 draining\n")


@pytest.mark.parametrize("address", ["127.0.0.1:9", "nowhere"])
async def test_the_check_fails_in_one_line_where_nothing_answers(address: str) -> None:
    done = await run_command(*checked(), env={"TICKWRIGHT_HTTP_ADDRESS": address})
    assert done.code == 1
    assert done.stderr.startswith(f"{address}: ")
    assert done.stderr.count("\n") == 1


def test_pip_in_an_image_made_from_this_one_installs_where_the_worker_looks(tmp_path: Path) -> None:
    venv.create(tmp_path / "venv", with_pip=False)
    here = {name: value.replace(VENV, str(tmp_path / "venv")) for name, value in ENV.items() if name.startswith("PIP_")}
    (tmp_path / "venv" / "constraints.txt").write_text("another==1\n")
    wheel(tmp_path / "mine-1.0-py3-none-any.whl")
    subprocess.run(
        [sys.executable, "-m", "pip", "install", "--no-index", "--quiet", tmp_path / "mine-1.0-py3-none-any.whl"],
        check=True,
        env={"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), **here},
    )

    subprocess.run([tmp_path / "venv" / "bin" / "python", "-c", "import mine"], check=True)


def test_what_was_locked_is_what_pip_keeps_to() -> None:
    assert ENV["PIP_CONSTRAINT"] == f"{VENV}/constraints.txt"
    assert f"--python {VENV}/bin/python freeze > {VENV}/constraints.txt" in DOCKERFILE


def test_the_build_is_given_all_that_the_wheel_is_made_of() -> None:
    """Docker sends what `.dockerignore` lets through, and the Dockerfile copies it."""
    wheel = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"]["wheel"]
    parts = {*wheel["packages"], *wheel["force-include"]}
    copied = {word for line in re.findall(r"^COPY (.+)$", DOCKERFILE, re.MULTILINE) for word in line.split()[:-1]}
    sent = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}

    assert parts <= copied, parts - copied
    assert parts <= sent, parts - sent


def wheel(path: Path) -> None:
    """The smallest package that pip installs: a module `mine`."""
    about = "mine-1.0.dist-info"
    with ZipFile(path, "w") as file:
        file.writestr("mine.py", "")
        file.writestr(f"{about}/METADATA", "Metadata-Version: 2.1\nName: mine\nVersion: 1.0\n")
        file.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        file.writestr(f"{about}/RECORD", "mine.py,,\n")
