"""The monitor and the rules as commands: options, token, a server that is away, the end."""

from __future__ import annotations

import signal
from pathlib import Path

import aiohttp
import pytest

from tests.processes import ROOT, Running, run_command, started
from tests.prometheus import until_none
from tests.servers import HOST, DevServer, dev_server, free_port

SPEC = """\
version: 1
project: {project}
defaults: {{timezone: UTC, timeout: 1m}}
jobs:
  {project}-daily: {{schedule: "0 8 * * *", run: {{command: ["true"]}}}}
"""


async def get(url: str, token: str = "") -> tuple[int, str]:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    async with aiohttp.ClientSession(headers=headers) as session, session.get(url) as answer:
        return answer.status, await answer.text()


async def url_of(monitor: Running) -> str:
    """Where it serves, without a path."""
    line: str = await monitor.until(lambda: next((each for each in monitor.err if "metrics at" in each), ""), "no URL")
    return line.rsplit(maxsplit=1)[-1].removesuffix("/metrics")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--address", "nowhere"], "--address: 'nowhere' is no address"),
        (["--interval", "soon"], "--interval: "),
        (["--interval", "0s"], "--interval 0s: write 1s or more"),
        (["--rate", "0"], "0 is not a whole number of at least 1"),
        (["no-such-file.yaml"], "no-such-file.yaml"),
    ],
)
async def test_a_wrong_command_line_ends_it_with_2(words: list[str], said: str) -> None:
    done = await run_command("schedules.monitor", *words)
    assert (done.code, said in done.stderr) == (2, True), done.stderr


@pytest.mark.parametrize(
    "env", [{"TICKWRIGHT_HTTP_TOKEN": ""}, {"TICKWRIGHT_HTTP_TOKEN_FILE": ""}, {"TICKWRIGHT_HTTP_TOKENS": "x"}]
)
async def test_a_token_that_is_none_ends_it_with_2(env: dict[str, str]) -> None:
    done = await run_command("schedules.monitor", env=env)
    assert (done.code, f"{next(iter(env))}: " in done.stderr) == (2, True), done.stderr


async def test_without_a_token_metrics_are_given_to_no_page_of_the_internet(tmp_path: Path, name: str) -> None:
    (tmp_path / "spec.yaml").write_text(SPEC.format(project=name))
    env = {
        "TEMPORAL_ADDRESS": f"{HOST}:{free_port()}",
        "TICKWRIGHT_HTTP_ADDRESS": f"{HOST}:0",
        "TICKWRIGHT_HTTP_HOSTS": "monitor",
    }
    words = ("spec.yaml", "--host", "metrics.internal")
    async with started("schedules.monitor", *words, env=env, cwd=tmp_path) as monitor:
        url = await url_of(monitor)
        hosts = {"localhost": 200, "monitor:9464": 200, "Metrics.Internal": 200, "evil.example": 403}
        async with aiohttp.ClientSession() as session:
            for host, expected in hosts.items():
                async with session.get(f"{url}/metrics", headers={"Host": host}) as answer:
                    assert answer.status == expected, host


async def test_it_waits_for_a_server_tells_so_and_ends_in_order(tmp_path: Path, name: str) -> None:
    (tmp_path / "spec.yaml").write_text(SPEC.format(project=name))
    port = free_port()
    env = {
        "TEMPORAL_ADDRESS": f"{HOST}:{port}",
        "TICKWRIGHT_HTTP_ADDRESS": f"{HOST}:0",
        "TICKWRIGHT_HTTP_TOKEN": "sesame",
    }
    async with started("schedules.monitor", "spec.yaml", "--interval", "1s", env=env, cwd=tmp_path) as monitor:
        url = await url_of(monitor)
        await monitor.until(lambda: any("cannot reach Temporal" in line for line in monitor.err), "not a word")
        assert await get(f"{url}/readyz") == (503, "Temporal has not been looked at of late\n")
        assert (await get(f"{url}/livez"))[0] == 200
        assert (await get(f"{url}/metrics"))[0] == 401
        assert "tickwright_job_" not in "\n".join(
            line for line in (await get(f"{url}/metrics", "sesame"))[1].splitlines() if not line.startswith("#")
        )
        with dev_server(port=port):

            async def unready() -> list[str]:
                status, text = await get(f"{url}/readyz")
                return [] if status == 200 else [text]

            await until_none(unready, "not ready")
            labels = f'{{job="{name}-daily",owner="{name}/default"}}'
            page = (await get(f"{url}/metrics", "sesame"))[1]
            assert f"tickwright_job_schedule_missing{labels} 1.0" in page
            assert "tickwright_monitor_jobs 0.0" in page
            monitor.signal(signal.SIGTERM)
            assert await monitor.wait() == 0
    assert "the server answers again" in monitor.err


async def test_a_port_that_is_taken_is_told(name: str) -> None:
    env = {"TEMPORAL_ADDRESS": f"{HOST}:{free_port()}"}
    async with started("schedules.monitor", "--address", f"{HOST}:0", env=env) as monitor:
        taken = (await url_of(monitor)).removeprefix("http://")
        done = await run_command("schedules.monitor", "--address", taken, env=env)
    assert done.code == 1
    assert f"cannot listen on {taken}" in done.stderr


async def test_a_namespace_that_does_not_exist_ends_it_at_once(server: DevServer) -> None:
    env = {**server.environ, "TEMPORAL_NAMESPACE": "no-such-namespace"}
    done = await run_command("schedules.monitor", "--address", f"{HOST}:0", env=env)
    assert (done.code, "Namespace no-such-namespace is not found" in done.stderr) == (1, True), done


async def test_it_tells_of_each_owner_when_it_was_last_seen_and_of_nobody_that_is_meant(
    server: DevServer, name: str
) -> None:
    env = {**server.environ, "TICKWRIGHT_HTTP_ADDRESS": f"{HOST}:0"}
    async with started("schedules.monitor", "--owner", f"{name}/x", "--interval", "1s", env=env) as monitor:
        url = await url_of(monitor)
        await monitor.until(lambda: any("no job in the namespace is" in line for line in monitor.err), "not a word")
        page = (await get(f"{url}/metrics"))[1]
    labels = f'{{namespace="default",owner="{name}/x"}}'
    assert f"tickwright_monitor_owner_last_look_timestamp_seconds{labels}" in page


async def test_rules_stand_alone_on_standard_output(tmp_path: Path, name: str) -> None:
    (tmp_path / "noisy.py").write_text("print('hello')\n")
    (tmp_path / "spec.yaml").write_text(SPEC.format(project=name))
    env = {"PYTHONPATH": f"{ROOT}:{tmp_path}"}
    done = await run_command("schedules", "rules", "spec.yaml", "--modules", "noisy", cwd=tmp_path, env=env)
    assert (done.code, done.stdout.partition("\n")[0]) == (
        0,
        "# Written by `tickwright rules`; thresholds stand under `alerts` in the specs.",
    )
    assert f"tickwright {name}/default" in done.stdout
    wrong = await run_command("schedules", "rules", "nothing.yaml", cwd=tmp_path)
    assert (wrong.code, wrong.stdout) == (2, "")
