"""A forked command is what a new interpreter would be: the same facts, the same end."""

from __future__ import annotations

import asyncio
import json
import signal
from pathlib import Path

import psutil
import pytest

from tests.forked import fork_module
from tests.processes import environment, run_command, started, started_process

FACTS = """
import json, os, signal, sys, threading, time
inherited = open("/proc/self/environ", "rb").read().rstrip(b"\\0").split(b"\\0")
streams = [getattr(sys, name) for name in ("stdin", "stdout", "stderr", "__stdout__", "__stderr__")]
print(json.dumps({
    "module": [__name__, __package__, __file__, sys.modules["__main__"].__name__],
    "words": sys.argv,
    "path": sys.path,
    "folder": os.getcwd(),
    "environ": sorted(os.environ.items()),
    "environ of the system": sorted(map(os.fsdecode, inherited)),
    "zone": time.tzname,
    "streams": [(s.fileno(), s.encoding, s.errors, s.line_buffering, s.write_through, s.isatty()) for s in streams],
    "signals": [str(signal.getsignal(number)).partition(" at ")[0] for number in sorted(signal.valid_signals())],
    "masked": sorted(signal.pthread_sigmask(signal.SIG_BLOCK, [])),
    "files": sorted(os.listdir("/proc/self/fd")),
    "group": [os.getpgrp(), os.getsid(0)],
    "threads": threading.active_count(),
    "nice": os.nice(0),
    "optional": "rich" in sys.modules,
}))
"""
ENDS = {
    "nothing to say": ("", 0),
    "a code": ("import sys; sys.exit(3)", 3),
    "a word": ("import sys; sys.exit('it is over')", 1),
    "an error": ("print('before'); 1 / 0", 1),
    "an interrupt": ("raise KeyboardInterrupt", -signal.SIGINT),
    "a signal": ("import os; os.kill(os.getpid(), 9)", -signal.SIGKILL),
    "at exit": ("import atexit; atexit.register(print, 'last words'); print('no end of line', end='')", 0),
}


async def both(module: str, *words: str, cwd: Path, **env: str) -> list[tuple[int, str, str]]:
    """Code, stdout and stderr of `python -m <module> <words>`: forked, and in an interpreter of its own."""
    variables = {"TZ": "Asia/Kathmandu", **env}
    forked = await run_command(module, *words, env=variables, cwd=cwd)
    async with started_process("-m", module, *words, env=variables, cwd=cwd) as running:
        code = await running.wait()
    return [
        (forked.code, forked.stdout, forked.stderr),
        (code, "".join(f"{line}\n" for line in running.out), "".join(f"{line}\n" for line in running.err)),
    ]


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("more", [{}, {"PYTHONIOENCODING": "latin-1"}, {"PYTHONUTF8": "1"}], ids=str)
async def test_it_finds_what_a_new_interpreter_finds(tmp_path: Path, unbuffered: str, more: dict[str, str]) -> None:
    (tmp_path / "facts.py").write_text(FACTS)
    env = {"PYTHONUNBUFFERED": unbuffered, "PYTHONPATH": f"{Path.cwd()}:{tmp_path / 'more'}", "GIVEN": "ü\n=", **more}
    forked, other = [json.loads(out) for _, out, _ in await both("facts", "a", "b c", cwd=tmp_path, **env)]
    for facts in (forked, other):  # Each has a mark of its own.
        facts["environ"] = [pair for pair in facts["environ"] if pair[0] != "TEST_PROCESS_MARK"]
        facts["environ of the system"] = [
            pair for pair in facts["environ of the system"] if "TEST_PROCESS_MARK" not in pair
        ]
    assert forked == other
    assert forked["zone"][0] == "+0545"


@pytest.mark.parametrize(("text", "code"), ENDS.values(), ids=ENDS)
async def test_it_ends_as_a_new_interpreter_ends(tmp_path: Path, text: str, code: int) -> None:
    (tmp_path / "ends.py").write_text(text)
    forked, other = await both("ends", cwd=tmp_path)
    assert (forked[0], other[0]) == (code, code)
    assert forked[1].splitlines() == other[1].splitlines()
    assert forked[2].splitlines()[-1:] == other[2].splitlines()[-1:]


async def test_a_module_that_hides_one_of_ours_is_found_by_it_too(tmp_path: Path) -> None:
    (tmp_path / "yaml.py").write_text("HIDES = True\n")
    (tmp_path / "mine.py").write_text("import yaml\nprint(yaml.HIDES)\n")
    assert await run_command("mine", cwd=tmp_path) == (await run_command("mine", cwd=tmp_path))
    assert (await run_command("mine", cwd=tmp_path)).stdout == "True\n"


async def test_signals_reach_it_and_it_is_found_by_its_mark(tmp_path: Path) -> None:
    (tmp_path / "waits.py").write_text("import time; print('up', flush=True); time.sleep(60)\n")
    async with started("waits", cwd=tmp_path) as running:
        await running.until(lambda: running.out, "not up")
        assert psutil.Process(running.pid).environ()["TEST_PROCESS_MARK"] == running.mark
        running.signal(signal.SIGTERM)
        assert await running.wait() == -signal.SIGTERM
    async with started("waits", cwd=tmp_path) as running:
        pass
    assert running.process.returncode == -signal.SIGKILL


async def test_many_at_once_end_each_with_its_own(tmp_path: Path) -> None:
    (tmp_path / "code.py").write_text("import sys; print(sys.argv[1] * 1000); sys.exit(int(sys.argv[1]))\n")

    async def one(number: int) -> tuple[int, bytes]:
        process = await fork_module("code", str(number), environ=environment({}, ""), cwd=tmp_path)
        stdout, _ = await process.communicate()
        return await process.wait(), stdout

    found = await asyncio.gather(*map(one, range(20)))
    assert found == [(number, f"{str(number) * 1000}\n".encode()) for number in range(20)]
