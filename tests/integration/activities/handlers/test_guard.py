"""Processes under guard do not outlive the one that started them, however it ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import psutil
import pytest

from activities.handlers.process import GuardedProcess, SpawnError
from tests.waiting import is_running, pids_in, until

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.asyncio

STARTER = """
import asyncio, os, sys, time
from activities.handlers.process import GuardedProcess

process = GuardedProcess(["sh", "-c", sys.argv[1]], grace=0.5)
if sys.argv[2] == "forked" and os.fork() == 0:
    print(os.getpid(), flush=True)
    time.sleep(60)
print(os.getpid(), flush=True)
asyncio.run(process.wait())
"""
FAMILY = (
    "{trap}echo $$ >> {file}; sleep 60 & echo $! >> {file}; "
    "sh -c '{trap}echo $$ >> {file}; sleep 60; sleep 60' & wait; wait"
)


def start(script: str, kind: str = "plain") -> subprocess.Popen[str]:
    """A process that starts `script` under guard and waits for it."""
    return subprocess.Popen([sys.executable, "-c", STARTER, script, kind], stdout=subprocess.PIPE, text=True)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("trap", ["", 'trap "" TERM; '])
async def test_killing_the_starter_ends_all_that_it_started(tmp_path: Path, number: signal.Signals, trap: str) -> None:
    """Also those that ignore SIGTERM."""
    with start(FAMILY.format(file=tmp_path / "pids", trap=trap)) as starter:
        pids = await pids_in(tmp_path / "pids", 3)
        guards = psutil.Process(starter.pid).children()
        assert all(map(is_running, pids))
        starter.send_signal(number)
    await until(lambda: not any(map(is_running, [*pids, *(guard.pid for guard in guards)])))


async def test_a_fork_of_the_starter_that_keeps_the_line_open_changes_nothing(tmp_path: Path) -> None:
    with start(FAMILY.format(file=tmp_path / "pids", trap=""), "forked") as starter:
        pids = await pids_in(tmp_path / "pids", 3)
        assert starter.stdout is not None
        shown = {int(starter.stdout.readline()), int(starter.stdout.readline())}
        starter.kill()
    [fork] = shown - {starter.pid}
    assert is_running(fork)
    await until(lambda: not any(map(is_running, pids)))
    os.kill(fork, signal.SIGKILL)


async def test_killing_the_guard_itself_ends_the_command(tmp_path: Path) -> None:
    process = GuardedProcess(["sh", "-c", FAMILY.format(file=tmp_path / "pids", trap="")], grace=1)
    pids = await pids_in(tmp_path / "pids", 3)
    guard = psutil.Process(process._guard.pid)
    guard.kill()
    assert await process.wait() == -signal.SIGKILL
    await until(lambda: not any(map(is_running, pids)))
    process.close()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
async def test_a_signal_to_the_guard_stops_the_command_in_good_order(tmp_path: Path, number: signal.Signals) -> None:
    script = (
        f"trap 'echo bye > {tmp_path / 'said'}; exit 7' TERM; echo > {tmp_path / 'ready'}; while :; do sleep 0.02; done"
    )
    process = GuardedProcess(["sh", "-c", script], grace=5)
    await until((tmp_path / "ready").exists)
    guard = psutil.Process(process._guard.pid)
    guard.send_signal(number)
    assert await process.wait() == 7
    assert (tmp_path / "said").read_text() == "bye\n"
    process.close()


@pytest.mark.parametrize("script", ["exit 0", "exit 7", "exit 255"])
async def test_exit_code_is_the_command_s(script: str) -> None:
    process = GuardedProcess(["sh", "-c", script], grace=1)
    assert await process.wait() == int(script.split()[1])
    process.close()


async def test_orphans_of_the_command_are_reaped_by_the_guard(tmp_path: Path) -> None:
    """In a container the first process often reaps nobody, and a zombie would keep the group in being."""
    file = tmp_path / "pids"
    process = GuardedProcess(["sh", "-c", f"(sh -c 'echo $PPID; sleep 60 & echo $!' > {file}); sleep 60"], grace=1)
    _, orphan = await pids_in(file, 2)
    guard = psutil.Process(process._guard.pid)
    await until(lambda: psutil.Process(orphan).ppid() == guard.pid)
    os.kill(orphan, signal.SIGKILL)
    await until(lambda: not psutil.pid_exists(orphan))
    process.stop()
    await process.wait()
    process.close()


async def test_close_without_waiting_ends_the_command(tmp_path: Path) -> None:
    process = GuardedProcess(["sh", "-c", FAMILY.format(file=tmp_path / "pids", trap="")], grace=1)
    pids = await pids_in(tmp_path / "pids", 3)
    process.close()
    await until(lambda: not any(map(is_running, pids)))
    process._guard.wait()


async def test_a_command_gets_neither_the_line_nor_a_terminal_nor_input() -> None:
    process = GuardedProcess(["sh", "-c", "ls /proc/self/fd | wc -l; cat; tty"], grace=1, stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert await process.wait() == 1
    # 0, 1, 2 and the directory that `ls` reads.
    assert process.stdout.read() == b"4\nnot a tty\n"
    process.close()


async def test_a_program_that_is_not_there_is_told_by_its_errno() -> None:
    process = GuardedProcess(["/no/such/program"], grace=1)
    with pytest.raises(SpawnError) as failure:
        await process.wait()
    assert isinstance(failure.value, OSError)
    assert failure.value.errno == 2
    process.close()
