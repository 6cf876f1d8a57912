"""A real Prometheus and a real Alertmanager for tests, on free ports, gone with the test; and the tools that check their files."""

from __future__ import annotations

import asyncio
import json
import shutil
import subprocess
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import aiohttp
import pytest
import yaml
from aiohttp import web

from activities.handlers.process import GuardedProcess
from tests.servers import HOST, free_port

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterator, Sequence

PROMETHEUS, PROMTOOL, AMTOOL = (shutil.which(name) for name in ("prometheus", "promtool", "amtool"))
ALERTMANAGER = shutil.which("prometheus-alertmanager") or shutil.which("alertmanager")
WHY = "needs {} on the PATH; no Python package carries it: apt-get install prometheus prometheus-alertmanager"
needs_promtool = pytest.mark.skipif(PROMTOOL is None, reason=WHY.format("promtool"))
needs_amtool = pytest.mark.skipif(AMTOOL is None, reason=WHY.format("amtool"))


def promtool(*words: str | Path, given: str = "") -> str:
    """What it says; fails where it is not content."""
    done = subprocess.run(
        [str(PROMTOOL), *map(str, words)], input=given, capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def metrics_are_valid(page: str) -> bool:
    """Whether promtool can read a page of metrics, and has nothing to say of what is ours on it."""
    remarks = promtool("check", "metrics", given=page) if PROMTOOL else ""
    return not [line for line in remarks.splitlines() if line.startswith("tickwright_")]


@dataclass
class Alerts:
    """What a webhook was told: alerts as Alertmanager sends them."""

    url: str
    told: list[dict[str, Any]] = field(default_factory=list)

    def firing(self) -> set[tuple[str, str]]:
        """Names and jobs of all that have ever fired."""
        return {
            (alert["labels"]["alertname"], alert["labels"].get("job", ""))
            for alert in self.told
            if alert["status"] == "firing"
        }


@asynccontextmanager
async def alerting(folder: Path, rules: Path, targets: Sequence[str]) -> AsyncIterator[Alerts]:
    """Prometheus scrapes the targets (host:port) every two seconds and tells Alertmanager, which tells the webhook of `Alerts`."""
    assert PROMETHEUS
    assert ALERTMANAGER
    alerts, alertmanager = Alerts(f"http://{HOST}:{free_port()}"), f"{HOST}:{free_port()}"
    config = {
        "global": {"scrape_interval": "2s", "evaluation_interval": "1s"},
        "rule_files": [str(rules)],
        "alerting": {"alertmanagers": [{"static_configs": [{"targets": [alertmanager]}]}]},
        "scrape_configs": [{"job_name": "t", "honor_labels": True, "static_configs": [{"targets": list(targets)}]}],
    }
    (folder / "prometheus.yml").write_text(yaml.safe_dump(config))
    route = {"receiver": "hook", "group_by": ["alertname", "job"], "group_wait": "0s", "group_interval": "1s"}
    hook = {"name": "hook", "webhook_configs": [{"url": f"{alerts.url}/"}]}
    (folder / "alertmanager.yml").write_text(yaml.safe_dump({"route": route, "receivers": [hook]}))
    server = [f"--storage.tsdb.path={folder / 'data'}", f"--web.listen-address={HOST}:{free_port()}"]
    manager = [f"--storage.path={folder / 'alerts'}", f"--web.listen-address={alertmanager}"]
    async with _webhook(alerts):
        with (
            _process(ALERTMANAGER, folder / "alertmanager.yml", *manager, "--cluster.listen-address="),
            _process(PROMETHEUS, folder / "prometheus.yml", *server),
        ):
            yield alerts


@asynccontextmanager
async def _webhook(alerts: Alerts) -> AsyncIterator[None]:
    async def take(request: web.Request) -> web.Response:
        alerts.told += json.loads(await request.text())["alerts"]
        return web.Response()

    application = web.Application()
    application.add_routes([web.post("/", take)])
    runner = web.AppRunner(application, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, HOST, int(alerts.url.rpartition(":")[2])).start()
    try:
        yield
    finally:
        await runner.cleanup()


@contextmanager
def _process(program: str, config: Path, *options: str) -> Iterator[None]:
    """A server whose log goes beside its configuration; it ends with the block, and with this process."""
    with config.with_suffix(".log").open("wb") as log:
        process = GuardedProcess([program, f"--config.file={config}", *options], grace=5, stdout=log, stderr=log)
        try:
            yield
        finally:
            process.close()
            process._guard.wait(timeout=20)


async def page(url: str) -> str:
    """The text at an address; empty while nobody listens there."""
    try:
        async with aiohttp.ClientSession() as session, session.get(url) as answer:
            return await answer.text()
    except aiohttp.ClientConnectionError:
        return ""


async def until_none(left: Callable[[], Awaitable[Collection[Any]]], what: str, seconds: float = 90.0) -> None:
    """Waits until a coroutine function has nothing left to wait for."""
    deadline = asyncio.get_running_loop().time() + seconds
    while waited_for := await left():
        assert asyncio.get_running_loop().time() < deadline, f"{what}: {waited_for}"
        await asyncio.sleep(0.25)
