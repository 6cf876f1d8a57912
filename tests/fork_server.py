"""`python tests/fork_server.py SOCKET`: imports the product once; each request becomes a `python -m` of its own, a copy of this process.

A request comes with the file descriptors of stdout, stderr, and a socket for the answers: the process id, then how the process ended.
"""

from __future__ import annotations

import ctypes
import gc
import json
import os
import pkgutil
import runpy
import select
import signal
import socket
import sys
import time
from contextlib import suppress
from importlib import import_module
from io import TextIOWrapper
from pathlib import Path
from typing import Any, TextIO

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("activities", "schedules", "workflows", "worker")
LEFT_OUT = ("__main__", "probe", "pytest_plugin", "testkit")
"""Parts of names of modules that are not imported beforehand: what is run as a program, and what loads pytest."""
MOST = 2**20
"""Bytes of a request."""
OF_INTERPRETER = ("PYTHON", "LANG", "LC_")
"""Variables that the interpreter reads when it starts begin with these; a request that changes one gets a new interpreter."""
SET_HERE = {"PYTHONPATH", "PYTHONUNBUFFERED"}


def main() -> None:
    control = socket.socket(fileno=int(sys.argv[1]))
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the tests, who end this process.
    del sys.path[0]
    path = list(sys.path)
    sys.path.insert(0, str(ROOT))
    _import_all()
    gc.freeze()
    if request := serve(control):
        become(request, path)


def _import_all() -> None:
    from worker.process.loading import light_loading

    with light_loading():
        for package in map(import_module, PACKAGES):
            for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
                if not any(part in module.name for part in LEFT_OUT):
                    import_module(module.name)


def serve(control: socket.socket) -> dict[str, Any] | None:
    """The request, in the process that is to become it; None in this one, when nobody can ask any more."""
    answers: dict[int, int] = {}
    awake, ended = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(ended, warn_on_full_buffer=False)
    while True:
        ready, _, _ = select.select([control.fileno(), awake], [], [])
        if awake in ready:
            os.read(awake, 4096)
            _tell_ends(answers)
        if control.fileno() not in ready:
            continue
        text, fds, _, _ = socket.recv_fds(control, MOST, 3)
        if not text:
            return None
        stdout, stderr, answer = fds
        if not (pid := os.fork()):
            signal.set_wakeup_fd(-1)
            os.dup2(stdout, 1)
            os.dup2(stderr, 2)
            os.closerange(3, max(control.detach(), awake, ended, *fds, *answers.values()) + 1)
            return dict(json.loads(text))
        answers[pid] = answer
        os.write(answer, str(pid).encode())
        os.close(stdout)
        os.close(stderr)


def _tell_ends(answers: dict[int, int]) -> None:
    while answers:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if not pid:
            return
        answer = answers.pop(pid)
        with suppress(OSError):
            os.write(answer, str(os.waitstatus_to_exitcode(status)).encode())
        os.close(answer)


def become(request: dict[str, Any], path: list[str]) -> None:
    """Runs the module as `python -m` does; this process ends as it does."""
    module, arguments, folder, environ = request["module"], request["arguments"], request["cwd"], request["environ"]
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.chdir(folder)
    first = [folder, *filter(None, environ.get("PYTHONPATH", "").split(":"))]
    if _needs_interpreter(environ, first):
        os.execve(sys.executable, [sys.executable, "-m", module, *arguments], environ)
    os.environ.clear()
    os.environ.update(environ)
    _show(environ)
    time.tzset()
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        stream = _stream(number, getattr(sys, name), unbuffered=bool(environ.get("PYTHONUNBUFFERED")))
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)
    sys.path[:] = [*first, *(entry for entry in path if entry not in first)]
    sys.argv = ["-m", *arguments]
    runpy.run_module(module, run_name="__main__", alter_sys=True)


def _needs_interpreter(environ: dict[str, str], first: list[str]) -> bool:
    """Whether an interpreter would start differently, or find another module than one that is loaded here, or more packages."""
    names = {name for name in {*environ, *os.environ} if name.startswith(OF_INTERPRETER)} - SET_HERE
    if any(environ.get(name) != os.environ.get(name) for name in names):
        return True
    loaded = {name.partition(".")[0] for name in sys.modules}
    folders = [Path(folder) for folder in first if Path(folder) != ROOT]
    files = [file for folder in folders if folder.is_dir() for file in folder.iterdir()]
    return any(file.suffix == ".dist-info" or file.name.partition(".")[0] in loaded for file in files)


def _show(environ: dict[str, str]) -> None:
    """Writes the variables where the system shows those with which a process began, as far as there is room; see proc(5)."""
    fields = Path("/proc/self/stat").read_text().rpartition(")")[2].split()
    begin, end = int(fields[47]), int(fields[48])
    block = b"".join(os.fsencode(f"{name}={value}") + b"\0" for name, value in environ.items())
    ctypes.memmove(begin, block[: end - begin].ljust(end - begin, b"\0"), end - begin)


def _stream(number: int, like: TextIO, *, unbuffered: bool) -> TextIO:
    """A text stream as the interpreter opens it at its start."""
    raw = open(number, "rb" if number == 0 else "wb", 0 if unbuffered and number else -1)  # noqa: SIM115
    lines = number == sys.stderr.fileno() and not unbuffered
    return TextIOWrapper(raw, like.encoding, like.errors, write_through=unbuffered, line_buffering=lines)


if __name__ == "__main__":
    main()
