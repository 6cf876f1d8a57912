"""`python -m tests.command_pictures` renews docs/plan.png and docs/run.png: a plan at a terminal, and a run in Temporal's Web UI."""

from __future__ import annotations

import asyncio
import io
import re
import shutil
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from playwright.async_api import async_playwright
from rich.console import Console
from rich.text import Text
from temporalio.client import Client

from tests.e2e.screen import at_terminal
from tests.processes import ROOT, started

if TYPE_CHECKING:
    from playwright.async_api import Browser

    from tests.processes import Running

PLAN, RUN = ROOT / "docs" / "plan.png", ROOT / "docs" / "run.png"
JOB = "nightly-reconcile"
WIDTH = 110
EDITS = {
    'schedule: "0 8 * * 1-5"': 'schedule: "30 7 * * 1-5"',
    "timeout: 5m": "timeout: 10m",
    "schedule: {every: 10s}": "schedule: {every: 1m}",
    "  weekly-cleanup:": "  monthly-cleanup:",
}
"""What somebody changes in the example jobs."""


async def main() -> None:
    """Writes the PNGs."""
    with TemporaryDirectory() as folder:
        shutil.copytree(ROOT / "examples", Path(folder, "examples"))
        async with started("worker.dev", cwd=Path(folder)) as dev, async_playwright() as playwright:
            browser = await playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
            await dev.until(lambda: any(" applied, " in line for line in dev.out), "the jobs", timeout=90)
            await _run(dev, browser)
            _edit(Path(folder, "examples", "jobs.yaml"))
            await _plan(_printed(dev, "Temporal"), Path(folder), browser)
            await browser.close()


def _printed(dev: Running, what: str) -> str:
    """The address that `worker.dev` has printed."""
    return next(line.split()[-1] for line in dev.out if line.startswith(f"{what}:"))


async def _run(dev: Running, browser: Browser) -> None:
    """The run of a trigger, its events as a time line."""
    client = await Client.connect(_printed(dev, "Temporal"))
    await client.get_schedule_handle(JOB).trigger()
    await dev.until(lambda: any(line.startswith(f"{JOB} ") for line in dev.out), "the run", timeout=60)
    [run] = [each async for each in client.list_workflows(f"TemporalScheduledById = '{JOB}'")]
    page = await browser.new_page(viewport={"width": 1480, "height": 900})
    await page.goto(f"{_printed(dev, 'Web UI')}/namespaces/default/workflows/{run.id}/{run.run_id}/timeline")
    await page.get_by_text("Completed").first.wait_for()
    await page.wait_for_timeout(1000)
    await page.screenshot(path=RUN)


def _edit(spec: Path) -> None:
    text = spec.read_text(encoding="utf-8")
    for before, after in EDITS.items():
        assert before in text, before
        text = text.replace(before, after)
    spec.write_text(text, encoding="utf-8")


async def _plan(address: str, folder: Path, browser: Browser) -> None:
    """`tickwright diff` after an edit, in the colours of a terminal."""
    asked, env = ("diff", "--env", "development", "examples/jobs.yaml"), {"TEMPORAL_ADDRESS": address}
    async with at_terminal("schedules", *asked, cwd=folder, env=env) as screen:
        await screen.process.wait()
        await asyncio.sleep(0.2)
        shown = re.sub(r"\x1b\[[0-9;?]*[A-Za-ln-z]|\r", "", screen.raw)  # all but colours
    console = Console(record=True, width=WIDTH, file=io.StringIO(), force_terminal=True)
    console.print(Text.from_ansi(f"$ tickwright {' '.join(asked)}\n{shown}"))
    page = await browser.new_page(viewport={"width": 1040, "height": 100})
    await page.set_content(console.export_html(inline_styles=True))
    await page.screenshot(path=PLAN, full_page=True)


if __name__ == "__main__":
    asyncio.run(main())
