"""A container outlives its worker, and the next one goes on with it: nothing runs twice, nothing of its output is lost."""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING, Any

import pytest
from temporalio.activity import ActivityCancellationDetails
from temporalio.exceptions import ApplicationError

from activities.contract import WORKER_SHUTDOWN
from activities.handlers.container.params import UNTIL
from activities.handlers.lasting import KEY
from tests.podman import IMAGE
from tests.waiting import until

if TYPE_CHECKING:
    from pathlib import Path

    from tests.integration.activities.handlers.container.conftest import Step

LINES = 10
OBEDIENT = "trap 'exit 0' TERM; while true; do sleep 0.1; done"
COUNT = f"""
echo began >> /data/marks; echo '{{{{"early": true}}}}'; i=0
while [ $i -lt {LINES} ]; do echo line $i; echo err $i >&2; i=$((i+1)); sleep 0.4; done
echo '{{{{"rows": 7}}}}'
"""
RUN_STEP = """
import asyncio, sys
from activities.handlers.table import Containers
from tests.podman import IMAGE
from tests.step_calls import bench, step_call
from dataclasses import replace

async def main(socket, job, folder, script):
    params = {"image": IMAGE, "args": ["sh", "-c", script], "network": "none", "mounts": [f"{folder}:/data"]}
    async with bench(containers=Containers(True, socket, (folder,))) as made:
        await made.run(replace(step_call("container", params), job=job))

asyncio.run(main(*sys.argv[1:]))
"""


@pytest.fixture
def folder(step: Step, tmp_path: Path) -> Path:
    """Where the container of the step writes a mark each time that it begins."""
    step.mounts = (str(tmp_path),)
    return tmp_path


def _numbers(text: str, word: str) -> list[int]:
    return [int(line.split()[1]) for line in text.splitlines() if line.startswith(word)]


async def test_after_a_drain_each_line_is_shown_once_and_the_output_is_whole(step: Step, folder: Path) -> None:
    call = step.call("sh", "-c", COUNT, mounts=[f"{folder}:/data"])
    async with step.worker() as first:
        running = asyncio.create_task(first.run(call))
        await until(lambda: _at(step, 3))
        await asyncio.sleep(0.3)
        first.environment.worker_shutdown()
        first.environment.cancel(ActivityCancellationDetails(worker_shutdown=True))
        with pytest.raises(ApplicationError) as drained:
            await running
    assert drained.value.type == WORKER_SHUTDOWN
    assert step.states == ["running"]
    seen, last = drained.value.details[0], drained.value.details[1]
    result = await step.run("sh", "-c", COUNT, mounts=[f"{folder}:/data"], last=last)
    for stream, word in (("stdout", "line"), ("stderr", "err")):
        assert _numbers(seen[stream] + result.output[stream], word) == list(range(LINES))
        assert _numbers(seen[stream], word), "the first worker has seen some"
    assert result.output["rows"] == 7
    assert (folder / "marks").read_text() == "began\n"


def _at(step: Step, line: int) -> bool:
    """Whether the container has come so far."""
    return any(f"line {line}" in step.podman.run("logs", each["Id"]) for each in step.containers)


async def test_what_ended_while_its_worker_was_dead_gives_the_next_all_of_its_output(step: Step, folder: Path) -> None:
    argv = [sys.executable, "-c", RUN_STEP, step.podman.socket, f"job-{step.run_id}", str(folder), COUNT]
    process = await asyncio.create_subprocess_exec(*argv)
    await until(lambda: step.states == ["running"] and _at(step, 1))
    process.kill()
    await process.wait()
    await until(lambda: step.states == ["exited"])
    result = await step.run("sh", "-c", COUNT, mounts=[f"{folder}:/data"])
    assert _numbers(result.output["stdout"], "line") == list(range(LINES))
    assert result.output["rows"] == 7
    assert (folder / "marks").read_text() == "began\n"
    assert "goes on with the container of an earlier attempt" in result.log


async def test_a_restart_of_the_engine_costs_an_attempt_and_never_a_second_container(step: Step, folder: Path) -> None:
    mounts = [f"{folder}:/data"]
    async with step.worker() as worker:
        running = asyncio.create_task(worker.run(step.call("sh", "-c", COUNT, mounts=mounts)))
        await until(lambda: _at(step, 1))
        step.podman.end()
        try:
            with pytest.raises(ApplicationError, match=r"the container engine stopped|no container engine answers"):
                await running
            with pytest.raises(ApplicationError, match="no container engine answers"):
                await worker.run(step.call("sh", "-c", COUNT, mounts=mounts))
        finally:
            step.podman.start()
    result = await step.run("sh", "-c", COUNT, mounts=mounts)
    assert _numbers(result.output["stdout"], "line") == list(range(LINES))
    assert result.output["rows"] == 7
    assert (folder / "marks").read_text() == "began\n"


async def test_a_container_that_failed_under_a_dead_worker_fails_the_next_attempt_and_is_not_run_again(
    step: Step, folder: Path
) -> None:
    call = step.call("sh", "-c", "echo began | tee -a /data/marks; sleep 1; exit 5", mounts=[f"{folder}:/data"])
    async with step.worker() as first:
        running = asyncio.create_task(first.run(call))
        await until(lambda: step.states == ["running"])
        first.environment.cancel(ActivityCancellationDetails(not_found=True))
        with pytest.raises(asyncio.CancelledError):
            await running
        await until(lambda: step.states == ["exited"])
    async with step.worker() as second:
        with pytest.raises(ApplicationError, match="ended with exit code 5: began"):
            await second.run(call)
    assert (folder / "marks").read_text() == "began\n"


async def test_a_failure_makes_way_for_a_container_with_a_new_name(step: Step, folder: Path) -> None:
    script = "echo began >> /data/marks; case $TICKWRIGHT_ATTEMPT in 1) exit 5;; esac"
    mounts = [f"{folder}:/data"]
    async with step.worker() as worker:
        worker.environment.on_heartbeat = lambda *details: told.append(details[0])
        told: list[Any] = []
        with pytest.raises(ApplicationError):
            await worker.run(step.call("sh", "-c", script, mounts=mounts))
        worker.at_attempt(2)
        result = await worker.run(step.call("sh", "-c", script, mounts=mounts, last=told[-1]))
        assert result.output["exit_code"] == 0
        first, second = sorted(each["Name"].strip("/") for each in step.containers)
    assert second == f"{first}-2"
    assert (folder / "marks").read_text() == "began\nbegan\n"


@pytest.mark.parametrize("obedient", [True, False])
async def test_a_cancelled_step_has_stopped_and_removed_its_container(step: Step, obedient: bool) -> None:
    trap = "trap 'echo told; exit 0' TERM" if obedient else "trap '' TERM"
    async with step.worker() as worker:
        running = asyncio.create_task(
            worker.run(step.call("sh", "-c", f"{trap}; echo up; while true; do sleep 0.1; done"))
        )
        await until(lambda: any("up" in step.podman.run("logs", each["Id"]) for each in step.containers))
        worker.environment.cancel(ActivityCancellationDetails(cancel_requested=True))
        with pytest.raises(asyncio.CancelledError):
            await running
        assert step.containers == []


async def test_a_step_that_is_out_of_time_has_stopped_and_removed_its_container(step: Step) -> None:
    script = "trap 'echo told; exit 0' TERM; while true; do sleep 0.1; done"
    with pytest.raises(ApplicationError, match="timed out after 2 s") as caught:
        await step.run("sh", "-c", script, timeout=2.0)
    assert "told" in caught.value.details[0]["stdout"]
    assert step.containers == []


async def test_the_time_of_a_container_counts_from_its_start(step: Step) -> None:
    call = step.call("sh", "-c", OBEDIENT, timeout=4.0)
    async with step.worker() as first:
        running = asyncio.create_task(first.run(call))
        await until(lambda: step.states == ["running"])
        first.environment.cancel(ActivityCancellationDetails(not_found=True))
        with pytest.raises(asyncio.CancelledError):
            await running
        assert step.states == ["running"], "another attempt may go on with it"
    await asyncio.sleep(1.5)
    began = asyncio.get_running_loop().time()
    with pytest.raises(ApplicationError, match="timed out after 4 s, counted from the start of its container"):
        await step.run("sh", "-c", OBEDIENT, timeout=4.0)
    assert asyncio.get_running_loop().time() - began < 4
    assert step.containers == []


async def test_a_container_removed_by_hand_is_a_failed_attempt(step: Step) -> None:
    async with step.worker() as worker:
        running = asyncio.create_task(worker.run(step.call("sleep", "60")))
        await until(lambda: step.states == ["running"])
        step.podman.run("rm", "--force", "--time", "0", step.containers[0]["Id"])
        with pytest.raises(ApplicationError) as caught:
            await running
    assert not caught.value.non_retryable


async def test_what_a_drained_worker_left_running_on_another_host_is_not_started_here(step: Step) -> None:
    last: dict[str, Any] = {"host": "elsewhere", "shown": {"stdout": 3}}
    with pytest.raises(ApplicationError, match="left running on the host `elsewhere`") as caught:
        await step.run("true", last=last)
    assert not caught.value.non_retryable
    assert step.containers == []


async def test_what_a_dead_host_has_begun_is_started_here(step: Step) -> None:
    result = await step.run("true", last={"host": "elsewhere"})
    assert result.output["exit_code"] == 0
    assert "may still run on its host" in result.log


async def test_two_attempts_at_once_share_one_container(step: Step, folder: Path) -> None:
    script = "echo began >> /data/marks; sleep 1; echo done"
    both = [step.run("sh", "-c", script, mounts=[f"{folder}:/data"]) for _ in range(2)]
    results = await asyncio.gather(*both)
    assert [result.output["stdout"] for result in results] == ["done\n"] * 2
    assert (folder / "marks").read_text() == "began\n"


async def test_the_rest_of_a_worker_that_died_before_its_start_is_made_anew(
    step: Step, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("activities.handlers.container.step._START_SECONDS", 1.0)
    async with step.worker() as worker:
        await worker.run(step.call("true"))
        [first] = step.containers
        key, name = first["Config"]["Labels"][KEY], first["Name"]
        step.podman.run("rm", first["Id"])
        step.podman.run("create", "--name", name, "--label", f"{KEY}={key}", "--network", "none", IMAGE, "false")
        assert (await worker.run(step.call("echo", "anew"))).output["stdout"] == "anew\n"


async def test_a_container_of_somebody_else_is_left_alone(step: Step) -> None:
    async with step.worker() as worker:
        await worker.run(step.call("true"))
        [first] = step.containers
        step.podman.run("rm", first["Id"])
        step.podman.run("run", "--name", first["Name"], "--label", f"{KEY}={step.run_id}", IMAGE, "true")
        with pytest.raises(ApplicationError, match="that is none of this step; remove it") as caught:
            await worker.run(step.call("true"))
    assert caught.value.non_retryable
    assert step.states == ["exited"]


async def test_what_nobody_watches_any_more_is_removed_by_a_later_step(
    step: Step, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("activities.handlers.container.step.KEPT_AFTER_END", 0.2)
    for until_then in (100, 4_000_000_000):
        labels = ("--label", f"{KEY}={step.run_id}", "--label", f"{UNTIL}={until_then}")
        step.podman.run("run", "--detach", "--network", "none", *labels, IMAGE, "sh", "-c", OBEDIENT)
    async with step.worker() as worker:
        await worker.run(step.call("true"))
        await until(lambda: [each["Config"]["Labels"][UNTIL] for each in step.containers] == ["4000000000"])
