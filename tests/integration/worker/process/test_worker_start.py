"""How a worker process begins: what it refuses, what it waits for, when it is ready."""

from __future__ import annotations

import asyncio
import json
import signal
import socket
import ssl
import tomllib
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from temporalio.client import Client

from tests.certificates import pair
from tests.processes import (
    ROOT,
    Running,
    run_command,
    started,
    started_process,
    starting_worker,
    until_none_left,
    worker,
)
from tests.runs import request, start
from tests.servers import DevServer, dev_server, free_port


@pytest.fixture
def silent() -> Iterator[socket.socket]:
    """A server that takes connections and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.setblocking(False)
        yield listening


def address_of(listening: socket.socket) -> str:
    host, port = listening.getsockname()
    return f"{host}:{port}"


def was_connected_to(listening: socket.socket) -> bool:
    try:
        listening.accept()[0].close()
    except BlockingIOError:
        return False
    return True


HANDLER = "from activities import handler\n@handler\ndef clean_up() -> None: ...\n"
REFUSALS = {
    "bad value": ({"TICKWRIGHT_DRAIN_TIMEOUT": "30"}, 'TICKWRIGHT_DRAIN_TIMEOUT: "30" is not a duration'),
    "task queue of the server's own": ({"TICKWRIGHT_TASK_QUEUE": "/_sys/foo"}, "names that begin with /_sys/"),
    "task queue too long": ({"TICKWRIGHT_TASK_QUEUE": "q" * 2000}, "a task queue's name of 2000 bytes is too long"),
    "unknown name": ({"TICKWRIGHT_TASK_QUEU": "x"}, "did you mean TICKWRIGHT_TASK_QUEUE?"),
    "unknown module": (
        {"TICKWRIGHT_MODULES": "no_such"},
        "module no_such (of --modules or TICKWRIGHT_MODULES) cannot be imported: ModuleNotFoundError",
    ),
    "module that raises": (
        {"TICKWRIGHT_MODULES": "broken"},
        "module broken (of --modules or TICKWRIGHT_MODULES) cannot be imported: ZeroDivisionError",
    ),
    "module with the name of a package of ours": (
        {"TICKWRIGHT_MODULES": "workflows"},
        "module workflows (of --modules or TICKWRIGHT_MODULES): Tickwright's own package has the name workflows",
    ),
    "module in a package with such a name": (
        {"TICKWRIGHT_MODULES": "activities.mine"},
        "No module named 'activities.mine'; Tickwright's own package has the name activities; give yours another",
    ),
    "module that imports from a package with such a name": (
        {"TICKWRIGHT_MODULES": "indirect"},
        "No module named 'activities.mine'; Tickwright's own package has the name activities; give yours another",
    ),
    "handler twice": ({"TICKWRIGHT_MODULES": "one,two"}, "the handler `clean_up` is defined twice"),
}


@pytest.mark.parametrize(("settings", "message"), REFUSALS.values(), ids=REFUSALS.keys())
async def test_a_worker_with_a_fault_in_its_settings_ends_with_2_before_it_connects(
    settings: dict[str, str], message: str, silent: socket.socket, tmp_path: Path
) -> None:
    (tmp_path / "broken.py").write_text("1 / 0")
    (tmp_path / "indirect.py").write_text("import activities.mine")
    (tmp_path / "one.py").write_text(HANDLER)
    (tmp_path / "two.py").write_text(HANDLER)
    env = {"TEMPORAL_ADDRESS": address_of(silent), "TICKWRIGHT_HTTP_ADDRESS": "127.0.0.1:0", **settings}
    ended = await run_command("worker", env=env, cwd=tmp_path)
    assert (ended.code, ended.stdout) == (2, "")
    assert message in ended.stderr
    assert "Traceback" not in ended.stderr
    assert not was_connected_to(silent)


@pytest.mark.parametrize("module", ["activities.py", "schedules.py", "workflows.py", "workflows/__init__.py"])
async def test_a_module_of_the_user_in_the_place_of_ours_ends_the_worker_with_2(module: str, tmp_path: Path) -> None:
    shadow = tmp_path / module
    shadow.parent.mkdir(exist_ok=True)
    shadow.write_text(HANDLER)
    ended = await run_command("worker", cwd=tmp_path)
    assert (ended.code, ended.stdout) == (2, "")
    assert ended.stderr.startswith(f"{shadow} has the name of a part of Tickwright")
    assert len(ended.stderr.splitlines()) == 1


async def test_the_installed_command_runs_a_worker_whatever_modules_are_in_its_folder(
    server: DevServer, name: str, tmp_path: Path
) -> None:
    for module in ("activities", "schedules", "worker", "workflows"):
        (tmp_path / f"{module}.py").write_text("raise SystemExit('not this one')")
    (tmp_path / "jobs_of_test.py").write_text(HANDLER)
    env = {**server.environ, "TICKWRIGHT_TASK_QUEUE": name, "TICKWRIGHT_MODULES": "jobs_of_test"}
    env["TICKWRIGHT_HTTP_ADDRESS"] = "127.0.0.1:0"
    async with installed("worker", env=env, cwd=tmp_path) as running:
        await running.until_log("worker_ready")
        running.signal(signal.SIGTERM)
        assert await running.wait() == 0


@asynccontextmanager
async def installed(*words: str, env: dict[str, str], cwd: Path) -> AsyncIterator[Running]:
    """The command `tickwright` as the script that an installer makes of pyproject.toml: it does not look into its folder (-P)."""
    module, _, function = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"][
        "tickwright"
    ].partition(":")
    script = f"import sys; sys.argv[0] = 'tickwright'; from {module} import {function}; {function}()"
    async with started_process("-P", "-c", script, *words, env=env, cwd=cwd) as running:
        yield running


async def test_the_installed_command_shows_the_settings_of_a_worker(tmp_path: Path) -> None:
    async with installed("worker", "--help", env={}, cwd=tmp_path) as running:
        assert await running.wait() == 0
        assert await running.until(lambda: any("TICKWRIGHT_TASK_QUEUE" in line for line in running.out), "the settings")
        assert running.out[0].startswith("usage: tickwright worker")


async def test_worker_dev_without_any_specs_says_what_to_do(tmp_path: Path) -> None:
    ended = await run_command("worker.dev", cwd=tmp_path)
    assert (ended.code, ended.stdout) == (2, "")
    assert ended.stderr.startswith("there is no folder jobs here; write the PATH of a spec, or run `tickwright init`")


ONE, OTHER = pair(), pair()
CONNECTION_FAULTS = {
    "key of another certificate": (
        {"TEMPORAL_TLS_CLIENT_CERT_DATA": ONE.certificate, "TEMPORAL_TLS_CLIENT_KEY_DATA": OTHER.key},
        "the key is not that of the certificate",
    ),
    "damaged certificate": (
        {"TEMPORAL_TLS_CLIENT_CERT_DATA": ONE.certificate[:200], "TEMPORAL_TLS_CLIENT_KEY_DATA": ONE.key},
        "one of them is damaged",
    ),
    "file of profiles that is not there": ({"TEMPORAL_CONFIG_FILE": "/no/such.toml"}, "there is no file /no/such.toml"),
    "key that is no PEM": (
        {"TEMPORAL_TLS_CLIENT_CERT_DATA": "-----BEGIN CERTIFICATE-----", "TEMPORAL_TLS_CLIENT_KEY_DATA": "nonsense"},
        "TEMPORAL_TLS_CLIENT_KEY_PATH",
    ),
    "certificate without key": (
        {"TEMPORAL_TLS_CLIENT_CERT_DATA": "-----BEGIN CERTIFICATE-----"},
        "both client cert and private key",
    ),
    "authority that is no PEM": ({"TEMPORAL_TLS_SERVER_CA_CERT_DATA": "nonsense"}, "TEMPORAL_TLS_SERVER_CA_CERT_PATH"),
    "file that is not there": ({"TEMPORAL_TLS_CLIENT_CERT_PATH": "/no/such.pem"}, "/no/such.pem"),
    "profile that is not there": ({"TEMPORAL_PROFILE": "no-such"}, "no-such"),
    "address that is none": ({"TEMPORAL_ADDRESS": "a b:1"}, "a b:1"),
}


@pytest.mark.parametrize(("settings", "message"), CONNECTION_FAULTS.values(), ids=CONNECTION_FAULTS.keys())
async def test_connection_settings_that_cannot_work_end_the_worker_with_2(
    settings: dict[str, str], message: str, silent: socket.socket, tmp_path: Path
) -> None:
    env = {"TEMPORAL_ADDRESS": address_of(silent), "TICKWRIGHT_HTTP_ADDRESS": "127.0.0.1:0", **settings}
    ended = await run_command("worker", env=env, cwd=tmp_path)
    assert ended.code == 2
    assert message in ended.stderr
    assert "Traceback" not in ended.stderr
    assert not was_connected_to(silent)


@pytest.mark.parametrize(
    "settings",
    [
        {"TEMPORAL_API_KEY": "sesame"},
        {"TEMPORAL_TLS": "true"},
        {"TEMPORAL_TLS_CLIENT_CERT_DATA": ONE.certificate, "TEMPORAL_TLS_CLIENT_KEY_DATA": ONE.key},
    ],
    ids=lambda settings: next(iter(settings)),
)
async def test_tls_with_a_server_that_speaks_none_ends_the_worker_with_2(
    settings: dict[str, str], server: DevServer, tmp_path: Path
) -> None:
    env = {**server.environ, "TICKWRIGHT_HTTP_ADDRESS": "127.0.0.1:0", **settings}
    ended = await run_command("worker", env=env, cwd=tmp_path)
    assert ended.code == 2
    assert f"Temporal at {server.address} speaks no TLS" in ended.stderr
    assert "Traceback" not in ended.stderr


@asynccontextmanager
async def tls_server(folder: Path) -> AsyncIterator[str]:
    """The address of one that shakes hands, and says nothing more."""
    (folder / "pair.pem").write_text(ONE.certificate + ONE.key)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "pair.pem")
    context.set_alpn_protocols(["h2"])

    async def silent(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.close()

    async with await asyncio.start_server(silent, "127.0.0.1", 0, ssl=context) as listening:
        yield "{}:{}".format(*listening.sockets[0].getsockname())


async def test_a_server_of_tls_without_tls_in_the_settings_ends_the_worker_with_2(tmp_path: Path) -> None:
    async with tls_server(tmp_path) as address:
        env = {"TEMPORAL_ADDRESS": address, "TICKWRIGHT_HTTP_ADDRESS": "127.0.0.1:0"}
        ended = await run_command("worker", env=env, cwd=tmp_path)
    assert ended.code == 2
    assert f"Temporal at {address} speaks TLS, and the settings do not ask for it" in ended.stderr


async def test_a_worker_waits_for_a_server_whose_certificate_is_not_trusted(tmp_path: Path) -> None:
    """It may be replaced; the log says what is wrong."""
    async with tls_server(tmp_path) as address, starting_worker(address, cwd=tmp_path, TEMPORAL_TLS="true") as running:
        await running.until_log("server_away", retry_in=2.0)


async def test_a_busy_http_address_ends_the_worker_with_1(silent: socket.socket, tmp_path: Path) -> None:
    env = {"TICKWRIGHT_HTTP_ADDRESS": address_of(silent), "TEMPORAL_ADDRESS": address_of(silent)}
    ended = await run_command("worker", env=env, cwd=tmp_path)
    assert (ended.code, ended.stdout) == (1, "")
    assert f"cannot listen on {address_of(silent)}: " in ended.stderr
    assert "set TICKWRIGHT_HTTP_ADDRESS to a free one" in ended.stderr
    assert "Traceback" not in ended.stderr


async def test_a_namespace_that_is_not_there_ends_the_worker_with_1(server: DevServer, tmp_path: Path) -> None:
    env = {**server.environ, "TEMPORAL_NAMESPACE": "no-such", "TICKWRIGHT_HTTP_ADDRESS": "127.0.0.1:0"}
    ended = await run_command("worker", env=env, cwd=tmp_path)
    assert ended.code == 1
    assert f"Temporal at {server.address} refuses namespace no-such: NOT_FOUND" in ended.stderr
    assert "temporal operator namespace create no-such" in ended.stderr
    assert "Traceback" not in ended.stderr


async def test_a_workflow_that_the_sandbox_refuses_ends_the_worker_with_2(server: DevServer, tmp_path: Path) -> None:
    (tmp_path / "settle.py").write_text(
        "import random\n"
        "from temporalio import workflow\n"
        "LUCK = random.random()\n"
        "@workflow.defn\n"
        "class Settle:\n"
        "    @workflow.run\n"
        "    async def run(self) -> None: ...\n"
    )
    env = {**server.environ, "TICKWRIGHT_MODULES": "settle", "TICKWRIGHT_HTTP_ADDRESS": "127.0.0.1:0"}
    ended = await run_command("worker", env=env, cwd=tmp_path)
    assert ended.code == 2
    assert "TICKWRIGHT_MODULES" in ended.stderr
    assert "Settle" in ended.stderr
    assert "random" in ended.stderr
    assert "Traceback" not in ended.stderr


async def test_help_lists_the_settings_and_ends_with_0(tmp_path: Path) -> None:
    ended = await run_command("worker", "--help", cwd=tmp_path)
    assert ended.code == 0
    assert "TICKWRIGHT_TASK_QUEUE" in ended.stdout


async def test_a_worker_waits_for_its_server_and_then_works(
    start_server: Callable[..., DevServer], name: str, tmp_path: Path
) -> None:
    port = free_port()
    async with starting_worker(f"127.0.0.1:{port}", cwd=tmp_path, task_queue=name, allow_commands="true") as running:
        waits = [await running.until_log("server_away", retry_in=seconds) for seconds in (1.0, 2.0)]
        assert all(f"cannot reach Temporal at 127.0.0.1:{port}" in wait["error"] for wait in waits)
        assert await running.get("/livez") == (200, "ok\n")
        assert await running.get("/readyz") == (503, "starting\n")
        server = start_server(port=port)
        await running.until_ready()
        client = await Client.connect(server.address)
        result = await (await start(client, request(), name)).result()
        assert result.outcome == "succeeded"


async def test_sigterm_ends_a_worker_that_waits_for_its_server(tmp_path: Path) -> None:
    async with starting_worker(f"127.0.0.1:{free_port()}", cwd=tmp_path) as running:
        await running.until_log("server_away")
        running.signal(signal.SIGTERM)
        assert await running.wait() == 0
        assert "Traceback" not in "\n".join(running.err)


async def test_sigterm_ends_a_worker_whose_server_does_not_answer(silent: socket.socket, tmp_path: Path) -> None:
    async with starting_worker(address_of(silent), cwd=tmp_path) as running:
        await running.url()
        connection, _ = await asyncio.get_running_loop().sock_accept(silent)
        with connection:
            running.signal(signal.SIGTERM)
            assert await running.wait() == 0


async def test_readiness_follows_the_server_and_liveness_does_not(name: str, tmp_path: Path) -> None:
    with dev_server() as server:
        async with worker(server.address, cwd=tmp_path, task_queue=name, allow_commands="true") as running:
            assert await running.get("/readyz") == (200, "ok\n")
            server.stop()
            assert await running.until_answer("/readyz", 503) == "server unreachable: UNAVAILABLE\n"
            assert await running.get("/livez") == (200, "ok\n")
            with dev_server(port=server.port):
                await running.until_ready()
                client = await Client.connect(server.address)
                result = await (await start(client, request(), name)).result()
                assert result.outcome == "succeeded"
            assert running.out == []
            assert [line for line in running.err if not isinstance(json.loads(line), dict)] == []


async def test_metrics_count_the_attempts(server: DevServer, client: Client, name: str, tmp_path: Path) -> None:
    async with worker(server.address, cwd=tmp_path, task_queue=name, allow_commands="true") as running:
        await (await start(client, request(job=name), name)).result()
        _, text = await running.get("/metrics")
        labels = f'handler="command",job="{name}",outcome="succeeded",step="run"'
        assert f"tickwright_attempts_total{{{labels}}} 1.0" in text


async def test_the_connection_of_the_temporal_cli_is_taken_from_its_profile(
    server: DevServer, name: str, tmp_path: Path
) -> None:
    profile = tmp_path / "temporal.toml"
    profile.write_text(f'[profile.default]\naddress = "{server.address}"\n')
    env = {
        "TEMPORAL_CONFIG_FILE": str(profile),
        "TICKWRIGHT_HTTP_ADDRESS": "127.0.0.1:0",
        "TICKWRIGHT_TASK_QUEUE": name,
    }
    async with started("worker", env=env, cwd=tmp_path) as running:
        await running.until_log("worker_started", task_queue=name)
        running.signal(signal.SIGTERM)
        assert await running.wait() == 0
        await until_none_left(running.mark)
