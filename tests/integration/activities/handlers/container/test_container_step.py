"""What a `container` step does and gives back, with a real Podman."""

from __future__ import annotations

import json
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import pytest
from temporalio.exceptions import ApplicationError

from activities.handlers.table import Containers
from tests.podman import IMAGE
from tests.step_calls import bench
from tests.waiting import until

if TYPE_CHECKING:
    from pathlib import Path

    from tests.integration.activities.handlers.container.conftest import Step

SECRET = "hunter22-hunter22"


async def failure(step: Step, *argv: str, **options: Any) -> ApplicationError:
    with pytest.raises(ApplicationError) as caught:
        await step.run(*argv, **options)
    return caught.value


async def test_output_keys_come_from_the_last_line(step: Step) -> None:
    script = """echo first; echo oops >&2; echo '{"rows": 3}'"""
    result = await step.run("sh", "-c", script.replace("{", "{{").replace("}", "}}"))
    assert result.output == {"rows": 3, "exit_code": 0, "stdout": 'first\n{"rows": 3}\n', "stderr": "oops\n"}


@pytest.mark.parametrize(
    ("script", "permanent", "message"),
    [
        ("echo bad; exit 3", True, "ended with exit code 3: bad"),
        ("exit 4", False, "ended with exit code 4"),
        ("sh -c 'kill -USR1 $$'; exit $?", False, "ended with exit code 138 (SIGUSR1): User defined signal 1"),
    ],
)
async def test_exit_codes_are_judged_as_those_of_commands(
    step: Step, script: str, permanent: bool, message: str
) -> None:
    failed = await failure(step, "sh", "-c", script, permanent_exit_codes=[3])
    assert (failed.message, failed.non_retryable) == (f"`{IMAGE}` {message}", permanent)


@pytest.mark.parametrize("code", [0, 4])
async def test_a_container_is_removed_a_while_after_its_end(
    step: Step, code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("activities.handlers.container.step.KEPT_AFTER_END", 0.5)
    async with step.worker() as worker:
        with nullcontext() if code == 0 else pytest.raises(ApplicationError):
            await worker.run(step.call("sh", "-c", f"exit {code}"))
        assert step.states == ["exited"]
        await until(lambda: not step.containers)


async def test_what_takes_more_memory_than_it_may_is_named(step: Step) -> None:
    failed = await failure(step, "tail", "/dev/zero", memory="32m")
    assert failed.message in {
        f"`{IMAGE}` ended with exit code 137 (SIGKILL), as happens to what takes more memory than its limit of 32m",
        f"`{IMAGE}` took more memory than 32m (OOMKilled)",
    }


async def test_where_and_as_whom_it_runs(step: Step) -> None:
    result = await step.run(
        "sh", "-c", "pwd; id -u; ls /sys/class/net; env", workdir="/tmp", user="app", env={"A": "b"}
    )
    lines = result.output["stdout"].splitlines()
    assert lines[:3] == ["/tmp", "1000", "lo"]
    assert {"A=b", f"TICKWRIGHT_JOB=job-{step.run_id}", "TICKWRIGHT_ATTEMPT=1"} <= set(lines)


async def test_a_network_may_be_chosen(step: Step) -> None:
    assert (await step.run("ls", "/sys/class/net", network="host")).output["stdout"] != "lo\n"


async def test_command_replaces_the_entry_point(step: Step) -> None:
    assert (await step.run("there", command=["echo", "hello"])).output["stdout"] == "hello there\n"


async def test_secrets_in_files_are_not_seen_by_who_inspects_the_container(step: Step) -> None:
    files, env = {"/run/secrets/token": "${secret:TOKEN}"}, {"OPEN": "${secret:OPEN}"}
    async with step.worker(secrets={"TOKEN": SECRET, "OPEN": "read-by-everybody"}) as worker:
        call = step.call("sh", "-c", "cat /run/secrets/token; echo; echo $OPEN", files=files, env=env, user="app")
        result = await worker.run(call)
        [container] = step.containers
    assert result.output["stdout"] == "***\n***\n"
    assert SECRET not in json.dumps(container)
    assert "read-by-everybody" in json.dumps(container)


async def test_only_what_the_worker_allows_is_mounted(step: Step, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "file").write_text("of the host")
    step.mounts = (f"{tmp_path}/in:ro",)
    read = f"{tmp_path}/in:/data:ro"
    assert (await step.run("cat", "/data/file", mounts=[read])).output["stdout"] == "of the host"
    for mount in (
        f"{tmp_path}/in:/data",
        f"{tmp_path}/in/..:/data:ro",
        f"{tmp_path}:/data:ro",
        "/etc:/data:ro",
        "volume:/data",
    ):
        failed = await failure(step, "cat", "/data/file", mounts=[mount])
        assert failed.non_retryable
        assert f"the mount `{mount}` is not allowed on this worker" in failed.message


@pytest.mark.parametrize(
    ("options", "message", "permanent"),
    [
        ({"args": ["nope"]}, "executable file not found", True),
        ({"image": "localhost/none:1", "pull": "never"}, "is not there, and `pull` is never", True),
        ({"image": "127.0.0.1:1/none:1"}, "cannot be pulled: ", False),
        ({"pull": "always", "image": "127.0.0.1:1/none:1"}, "cannot be pulled: ", False),
        ({"user": "nobody-knows", "args": ["true"]}, "could not be started", True),
    ],
)
async def test_what_cannot_be_started_is_told(
    step: Step, options: dict[str, Any], message: str, permanent: bool
) -> None:
    failed = await failure(step, **{"timeout": 60.0, **options})
    assert message in failed.message
    assert failed.non_retryable == permanent
    assert step.containers == []


async def test_a_long_output_is_kept_within_bounds(step: Step) -> None:
    count = 20_000
    script = f"i=0; while [ $i -lt {count} ]; do echo line $i; i=$((i+1)); done"
    stdout = (await step.run("sh", "-c", script)).output["stdout"]
    assert stdout.startswith("line 0\n")
    assert stdout.endswith(f"line {count - 1}\n")
    assert "in all, the first 1 KiB and the last 8 KiB kept" in stdout


async def test_a_worker_that_may_not_or_has_no_engine_says_so(step: Step, tmp_path: Path) -> None:
    for settings, message in (
        (Containers(), "containers are not allowed on this worker"),
        (Containers(allowed=True, socket=str(tmp_path / "none.sock")), "no container engine answers at "),
    ):
        async with bench(containers=settings) as worker:
            with pytest.raises(ApplicationError) as caught:
                await worker.run(step.call("true"))
        assert message in caught.value.message


async def test_a_long_output_is_kept_as_a_whole_where_the_worker_has_a_folder(step: Step, tmp_path: Path) -> None:
    script = "i=0; while [ $i -lt 2000 ]; do echo line $i; i=$((i+1)); done"
    async with step.worker(outputs_dir=tmp_path) as worker:
        output = (await worker.run(step.call("sh", "-c", script))).output
    whole = tmp_path / output["whole"]["stdout"]
    assert whole.read_text() == "".join(f"line {number}\n" for number in range(2000))
    assert list(output["whole"]) == ["stdout"]
