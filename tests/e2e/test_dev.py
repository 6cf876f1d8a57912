"""`python -m worker.dev` as a newcomer starts it: one command, and everything runs."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import signal
import socket
import sqlite3
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager, closing, suppress
from datetime import datetime
from pathlib import Path
from typing import Any

import psutil
import pytest
from temporalio.client import Client

from activities.contract import JobResult
from tests.e2e.screen import at_terminal
from tests.processes import ROOT, Running, marked, run_command, started, until_none_left
from tests.servers import DevServer

RUN_LINE = re.compile(r"(\S+) (\S+Z) (\w+) lateness=(\S+)s attempts=(\d+) duration=(\S+)s")


def write_jobs(folder: Path, **jobs: dict[str, Any]) -> Path:
    """A file with the jobs given; what they leave out is that they run `true` every second."""
    usual = {"schedule": {"every": "1s"}, "run": {"command": ["true"]}}
    whole = {name: {**usual, **job} for name, job in jobs.items()}
    defaults = {"timezone": "UTC", "timeout": "30s"}
    path = folder / "jobs.json"
    path.write_text(json.dumps({"version": 1, "project": "dev", "defaults": defaults, "jobs": whole}))
    return path


@asynccontextmanager
async def dev(folder: Path, *arguments: str | Path, **env: str) -> AsyncIterator[Running]:
    """`worker.dev` in the folder, with Temporal up and the jobs applied."""
    async with started("worker.dev", *arguments, cwd=folder, env=env) as running:
        await running.until(lambda: any(" applied, " in line for line in running.out), "the jobs", timeout=90)
        yield running


def address(running: Running) -> str:
    return next(line.split()[1] for line in running.out if line.startswith("Temporal: "))


def finished(running: Running) -> list[re.Match[str]]:
    """One match for each line of a finished run."""
    return [match for line in running.out if (match := RUN_LINE.match(line))]


def servers(running: Running) -> list[psutil.Process]:
    return [process for process in marked(running.mark) if process.name() == "temporal"]


async def test_the_examples_run_as_they_are_and_the_first_run_shows_within_20_seconds(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    async with dev(tmp_path) as running:
        await running.until(lambda: finished(running), "a finished run", timeout=60)
        first = finished(running)[0]
        assert first.group(1, 3) == ("outbox-relay", "succeeded")
        assert "examples/development: 6 to create, 0 to update, 0 to delete, 0 unchanged" in running.out
        assert any(re.fullmatch(r"Web UI: +http://127\.0\.0\.1:\d+", line) for line in running.out)
        assert any(re.fullmatch(r"Board: +http://127\.0\.0\.1:\d+/", line) for line in running.out)
        running.signal(signal.SIGINT)
        assert await running.wait() == 0
        assert running.err == []
        await until_none_left(running.mark)


async def test_it_ends_by_itself_after_the_given_time_with_one_line_for_each_finished_run(tmp_path: Path) -> None:
    ended = await run_command("worker.dev", write_jobs(tmp_path, tick={}), "--for", "12s", cwd=tmp_path)
    assert ended.code == 0, ended.stderr
    runs = [match for line in ended.stdout.splitlines() if (match := RUN_LINE.match(line))]
    assert len(runs) >= 2
    assert {match.group(1, 3, 5) for match in runs} == {("tick", "succeeded", "1")}
    times = [match.group(2) for match in runs]
    assert len(set(times)) == len(times)


async def test_at_a_terminal_it_shows_a_table_and_ctrl_c_ends_it_in_order(tmp_path: Path) -> None:
    hidden, shown = "\x1b[?25l", "\x1b[?25h"
    async with at_terminal("worker.dev", write_jobs(tmp_path, tick={}), cwd=tmp_path) as screen:
        row = re.compile(r"│ tick +│ \S+Z +│ +\d+\.\d\ds +│ succeeded +│ 1 +│ +\d+\.\d\ds +│")
        await screen.until(lambda: row.search(screen.text), timeout=90)
        for heading in ("job", "scheduled time", "lateness", "outcome", "attempts", "duration"):
            assert heading in screen.text
        assert hidden in screen.raw
        assert not RUN_LINE.search(screen.text)
        screen.press_ctrl_c()
        assert await asyncio.wait_for(screen.process.wait(), 30) == 0
        await screen.until(lambda: screen.raw.rfind(shown) > screen.raw.rfind(hidden))
        assert "Traceback" not in screen.text
        await until_none_left(screen.mark)


async def test_the_second_ctrl_c_gives_the_cursor_back(tmp_path: Path) -> None:
    hidden, shown = "\x1b[?25l", "\x1b[?25h"
    sleeper = {"run": {"command": ["sleep", "600"]}}
    async with at_terminal("worker.dev", write_jobs(tmp_path, sleeper=sleeper), cwd=tmp_path) as screen:
        log = tmp_path / ".tickwright" / "worker.log"
        await screen.until(lambda: log.exists() and "step_started" in log.read_text(), timeout=90)
        screen.press_ctrl_c()
        await screen.until(lambda: "worker_draining" in log.read_text())
        screen.press_ctrl_c()
        assert await asyncio.wait_for(screen.process.wait(), 5) == 130
        await screen.until(lambda: screen.raw.rfind(shown) > screen.raw.rfind(hidden))


async def test_busy_ports_are_said_and_others_taken(tmp_path: Path) -> None:
    with ExitStack() as busy:
        for port in (7233, 8233):
            busy.callback((await occupy(port)).close)
        async with dev(tmp_path, write_jobs(tmp_path, tick={})) as running:
            port = int(address(running).rpartition(":")[2])
            assert port != 7233
            assert f"port 7233 is busy, so {port} is taken" in running.out
            assert f"for other commands, export TEMPORAL_ADDRESS=127.0.0.1:{port}" in running.out
            assert any(line.startswith("port 8233 is busy, so ") for line in running.out)
            await running.until(lambda: finished(running), "a finished run")


async def occupy(port: int) -> socket.socket:
    """A listener on the port; another test's server gives it up soon, and where one stays, the port is busy as well."""
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    with suppress(TimeoutError):
        async with asyncio.timeout(60):
            while True:
                with suppress(OSError):
                    listener.bind(("127.0.0.1", port))
                    listener.listen()
                    break
                await asyncio.sleep(0.05)
    return listener


async def test_schedules_and_history_survive_a_restart(tmp_path: Path) -> None:
    jobs = write_jobs(tmp_path, tick={})
    async with dev(tmp_path, jobs) as first:
        await first.until(lambda: finished(first), "a finished run")
        job, scheduled_at = finished(first)[0].group(1, 2)
        first.signal(signal.SIGTERM)
        assert await first.wait() == 0
    async with dev(tmp_path, jobs) as second:
        assert "dev/default: 0 to create, 0 to update, 0 to delete, 1 unchanged" in second.out
        client = await Client.connect(address(second))
        assert await client.get_workflow_handle(f"{job}-{scheduled_at}").result()
        await second.until(lambda: finished(second), "a finished run")
        assert scheduled_at not in [match.group(2) for match in finished(second)]


async def test_a_state_belongs_to_one_at_a_time(tmp_path: Path) -> None:
    jobs = write_jobs(tmp_path, tick={})
    async with dev(tmp_path, jobs) as first:
        second = await run_command("worker.dev", jobs, "--for", "5s", cwd=tmp_path)
        assert second.code == 1
        assert ".tickwright is in use by another `tickwright dev`" in second.stderr
        assert "Traceback" not in second.stderr
        seen = len(finished(first))
        await first.until(lambda: len(finished(first)) > seen, "a further run of the first")


async def test_sigkill_leaves_no_server_and_no_command_behind(tmp_path: Path) -> None:
    sleeper = {"run": {"command": ["sleep", "600"]}}
    async with dev(tmp_path, write_jobs(tmp_path, sleeper=sleeper)) as running:
        await running.until(lambda: "sleep" in [process.name() for process in marked(running.mark)], "the command")
        assert len(servers(running)) == 1
        running.signal(signal.SIGKILL)
        assert await running.wait() == -signal.SIGKILL
        await until_none_left(running.mark)


async def test_the_second_ctrl_c_stops_at_once_and_leaves_no_process(tmp_path: Path) -> None:
    sleeper = {"run": {"command": ["sleep", "600"]}}
    async with dev(tmp_path, write_jobs(tmp_path, sleeper=sleeper)) as running:
        await running.until(lambda: "sleep" in [process.name() for process in marked(running.mark)], "the command")
        running.signal(signal.SIGINT)
        log = tmp_path / ".tickwright" / "worker.log"
        await running.until(lambda: "worker_draining" in log.read_text(), "the drain")
        running.signal(signal.SIGINT)
        assert await running.wait() == 130
        await until_none_left(running.mark)


async def test_the_server_that_temporal_address_names_is_used_and_none_started(
    own_server: DevServer, tmp_path: Path
) -> None:
    async with dev(tmp_path, write_jobs(tmp_path, tick={}), **own_server.environ) as running:
        assert address(running) == own_server.address
        await running.until(lambda: finished(running), "a finished run")
        assert servers(running) == []
        running.signal(signal.SIGINT)
        assert await running.wait() == 0
        assert not (tmp_path / ".tickwright" / "temporal.db").exists()


async def test_a_retry_has_no_second_effect(tmp_path: Path) -> None:
    """The demo service answers every third new Idempotency-Key with 503 once, and counts requests and effects apart."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    jobs = tmp_path / "examples" / "jobs.yaml"
    slow = jobs.read_text()
    jobs.write_text(slow.replace("{every: 10s}", "{every: 1s}"))
    assert jobs.read_text() != slow
    async with dev(tmp_path) as running:
        await running.until(lambda: "2" in [match.group(5) for match in finished(running)], "a run that was retried")
        running.signal(signal.SIGINT)
        assert await running.wait() == 0
        await running.until(lambda: running.out[-1].startswith("demo service: "), "the summary")
        requests, failed, effects = map(int, re.findall(r"\d+(?= [rae])", running.out[-1]))
        assert failed >= 1
        assert effects == requests - failed
        assert effects >= len([run for run in finished(running) if run.group(3) == "succeeded"]), running.out


async def test_a_failed_run_is_shown_with_its_reason(tmp_path: Path) -> None:
    broken = {"run": {"command": {"argv": ["echo no such host >&2; exit 3"], "shell": True}}}
    async with dev(tmp_path, write_jobs(tmp_path, broken=broken)) as running:
        await running.until(lambda: finished(running), "a finished run")
        line = next(line for line in running.out if line.startswith("broken "))
        assert " failed lateness=" in line
        assert "exit code 3: no such host" in line


async def test_what_keeps_a_job_from_running_is_told(tmp_path: Path) -> None:
    run = {"http": {"url": "${secret:SHOP_URL}/tidy"}}
    async with dev(tmp_path, write_jobs(tmp_path, tidy={"schedule": "@yearly", "run": run})) as running:
        await running.until(lambda: running.err, "a warning")
        assert running.err[0].startswith("warning: no secret `SHOP_URL` in the worker of task queue `tickwright`")


async def test_the_end_of_the_embedded_server_is_said_and_ends_the_rest(tmp_path: Path) -> None:
    async with dev(tmp_path, write_jobs(tmp_path, tick={})) as running:
        await running.until(lambda: finished(running), "a finished run")
        [server] = servers(running)
        server.kill()
        assert await running.wait(timeout=60) == 1
        assert "the embedded Temporal server ended" in "\n".join(running.err)
        assert "Traceback" not in "\n".join(running.err)
        await until_none_left(running.mark)


async def test_a_broken_spec_ends_it_with_2_before_anything_is_started(tmp_path: Path) -> None:
    ended = await run_command("worker.dev", write_jobs(tmp_path, tick={"timeot": "5s"}), cwd=tmp_path)
    assert ended.code == 2
    assert "timeot" in ended.stderr
    assert "Traceback" not in ended.stderr
    assert not (tmp_path / ".tickwright").exists()


async def test_without_examples_and_without_paths_it_says_what_to_give(tmp_path: Path) -> None:
    ended = await run_command("worker.dev", cwd=tmp_path)
    assert ended.code == 2
    assert "there is no folder jobs here; write the PATH of a spec, or run `tickwright init`" in ended.stderr
    assert "Traceback" not in ended.stderr


@pytest.mark.parametrize("given", ["soon", "0s"])
async def test_a_time_to_run_that_is_none_is_refused(tmp_path: Path, given: str) -> None:
    ended = await run_command("worker.dev", "--for", given, cwd=tmp_path)
    assert ended.code == 2
    assert given in ended.stderr


async def test_a_state_that_cannot_be_used_is_named(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    ended = await run_command("worker.dev", write_jobs(tmp_path, tick={}), "--state", file, cwd=tmp_path)
    assert ended.code == 2
    assert f"--state {file} cannot be used" in ended.stderr
    assert "Traceback" not in ended.stderr


async def test_a_damaged_database_of_the_demo_service_is_named(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    (tmp_path / ".tickwright").mkdir()
    (tmp_path / ".tickwright" / "demo.db").write_text("no database " * 100)
    ended = await run_command("worker.dev", cwd=tmp_path)
    assert ended.code == 2
    assert "demo.db is not a database" in ended.stderr
    assert "Traceback" not in ended.stderr


def _keys_between(folder: Path, start: str, end: str) -> int:
    """How many idempotency keys the demo service has seen from an instant to before another (ISO 8601, in any zone)."""
    first, last = (datetime.fromisoformat(text).timestamp() for text in (start, end))
    with closing(sqlite3.connect(folder / ".tickwright" / "demo.db")) as database:
        return len({key for key, at in database.execute("SELECT key, at FROM requests") if first <= at < last})


async def test_the_example_of_two_steps_counts_and_posts_when_it_is_triggered(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    async with dev(tmp_path) as running:
        await running.until(lambda: finished(running), "a finished run, whose effect there is to count", timeout=60)
        await asyncio.sleep(1)  # times are whole seconds: its effect is to lie before the trigger
        client = await Client.connect(address(running))
        await client.get_schedule_handle("nightly-reconcile").trigger()
        its = await running.until(
            lambda: [match for match in finished(running) if match.group(1) == "nightly-reconcile"],
            "its run",
            timeout=60,
        )
        assert its[0].group(3) == "succeeded"
        run = client.get_workflow_handle(f"nightly-reconcile-{its[0].group(2)}", result_type=JobResult)
        compare, post = (await run.result()).steps
        seen = _keys_between(tmp_path, compare.output["from"], compare.output["to"])
    assert compare.output["effects"] == seen >= 1
    assert post.output["body"]["done"] == "ledger"
