"""A real Podman for tests: its service on a socket in a folder of its own, with one image made of busybox."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from activities.handlers.process import GuardedProcess

if TYPE_CHECKING:
    from collections.abc import Iterator

IMAGE = "localhost/tickwright-test:1"
START_SECONDS = 30.0
_CONFIG = """
[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
events_logger = "file"
[containers]
default_ulimits = ["nofile=1024:1024", "nproc=1024:1024"]
"""
_PROGRAMS = ("cat", "echo", "env", "id", "ls", "pwd", "sh", "sleep", "tail", "true", "wget")


class NoPodmanError(Exception):
    """Why there is none here."""


@dataclass
class Podman:
    """A running service."""

    folder: Path
    _process: GuardedProcess | None = None

    @property
    def socket(self) -> str:
        """The path of its socket."""
        return str(self.folder / "podman.sock")

    def run(self, *words: str, stdin: bytes | None = None) -> str:
        """What a command of its own says. Raises subprocess.CalledProcessError."""
        done = subprocess.run(
            ["podman", *_places(self.folder), *words],
            input=stdin,
            capture_output=True,
            check=True,
            env=_environ(self.folder),
            cwd=self.folder,
        )
        return done.stdout.decode()

    def start(self) -> None:
        """The service, until it answers on its socket."""
        argv = ["podman", *_places(self.folder), "system", "service", "--time", "0", f"unix://{self.socket}"]
        with (self.folder / "log").open("ab") as log:
            self._process = GuardedProcess(
                argv, grace=5, stdout=log, stderr=log, env=_environ(self.folder), cwd=str(self.folder)
            )
        _until_up(self)

    def end(self) -> None:
        """The service alone: its containers go on."""
        if self._process:
            self._process.end(20)
        Path(self.socket).unlink(missing_ok=True)

    def containers(self) -> list[dict[str, Any]]:
        """All that there are, running or not, with what the engine tells everybody of each."""
        while ids := self.run("ps", "--all", "--quiet", "--no-trunc").split():
            with suppress(subprocess.CalledProcessError):  # one of them is gone meanwhile
                found: list[dict[str, Any]] = json.loads(self.run("container", "inspect", *ids))
                return found
        return []


@contextmanager
def podman_service() -> Iterator[Podman]:
    """A service that runs containers; it ends with the block, and they with it. Raises NoPodmanError."""
    busybox = _needed()
    folder = Path(tempfile.mkdtemp(prefix="tw-pod-", dir="/tmp"))
    (folder / "containers.conf").write_text(_CONFIG)
    podman = Podman(folder)
    try:
        podman.run("import", "-", IMAGE, stdin=_root_of(folder, busybox))
        podman.run("run", "--rm", "--network", "none", IMAGE, "true")
        try:
            podman.start()
            yield podman
        finally:
            podman.run("rm", "--all", "--force", "--time", "0")
            podman.end()
    except subprocess.CalledProcessError as error:
        raise NoPodmanError(f"podman cannot run containers here: {error.stderr.decode()[-300:]}") from None
    finally:
        for mounted in sorted((folder / "graph").glob("overlay"), reverse=True):
            subprocess.run(["umount", mounted], capture_output=True, check=False)
        shutil.rmtree(folder, ignore_errors=True)


def _needed() -> Path:
    if os.getuid() != 0:
        raise NoPodmanError("podman is tried as root alone")
    missing = [name for name in ("podman", "runc") if not shutil.which(name)]
    busybox = Path("/bin/busybox")
    if missing or not busybox.exists():
        raise NoPodmanError(
            f"not installed: {', '.join([*missing, *([] if busybox.exists() else ['busybox-static'])])}"
        )
    return busybox


def _root_of(folder: Path, busybox: Path) -> bytes:
    """The root file system of the image as a tar archive."""
    root = folder / "root"
    for name in ("bin", "tmp", "etc"):
        (root / name).mkdir(parents=True)
    shutil.copy(busybox, root / "bin" / "busybox")
    for name in _PROGRAMS:
        (root / "bin" / name).symlink_to("busybox")
    (root / "etc" / "passwd").write_text("root:x:0:0::/:/bin/sh\napp:x:1000:1000::/:/bin/sh\n")
    (root / "etc" / "group").write_text("root:x:0:\napp:x:1000:\n")
    return subprocess.run(["tar", "-C", str(root), "-c", "."], capture_output=True, check=True).stdout


def _places(folder: Path) -> list[str]:
    return ["--root", str(folder / "graph"), "--runroot", str(folder / "run"), "--tmpdir", str(folder / "tmp")]


def _environ(folder: Path) -> dict[str, str]:
    return os.environ | {"CONTAINERS_CONF": str(folder / "containers.conf")}


def _until_up(podman: Podman) -> None:
    deadline = time.monotonic() + START_SECONDS
    while not Path(podman.socket).exists():
        if time.monotonic() > deadline:
            raise NoPodmanError((podman.folder / "log").read_text()[-300:])
        time.sleep(0.05)
