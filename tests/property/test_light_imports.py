"""What lint and the wire format load."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.parametrize(
    ("module", "kept_out"),
    [
        ("activities.contract", ["temporalio", "pydantic", "structlog", "aiohttp"]),
        ("activities.steps.template", ["temporalio", "pydantic", "aiohttp"]),
        ("activities.idempotency", ["temporalio", "pydantic", "aiohttp"]),
        ("activities.registry", ["temporalio", "aiohttp", "structlog"]),
        ("activities.steps.secrets", ["temporalio", "aiohttp"]),
        ("activities.handlers.kubernetes", ["lightkube", "httpx2"]),
        (
            "worker.app",
            [
                "aiohttp",
                "yarl",
                "apprise",
                "requests",
                "psycopg",
                "aiosqlite",
                "activities.handlers.sql",
                "schedules.ledger",
                "activities.handlers.container",
                "activities.handlers.kubernetes",
                "lightkube",
                "httpx2",
            ],
        ),
    ],
)
def test_module_loads_without_what_it_does_not_need(module: str, kept_out: list[str]) -> None:
    code = f"import sys, {module}; print([name for name in {kept_out} if name in sys.modules])"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert shown == "[]\n"


def test_the_package_offers_what_a_module_with_handlers_needs_without_temporal() -> None:
    code = "import sys; from tickwright import handler, JobContext, HandlerError, JobSet, JobSpec; print('temporalio' in sys.modules)"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert shown == "False\n"


def test_the_commands_say_what_they_take_without_loading_temporal() -> None:
    code = (
        "import sys, argparse, importlib\nfrom schedules.__main__ import VERBS\n"
        "for _, module in VERBS.values(): importlib.import_module(module).configure(argparse.ArgumentParser())\n"
        "print([name for name in ('temporalio', 'rich', 'pydantic') if name in sys.modules])"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert shown == "[]\n"


CODE = """
import json, os, sys
end = os._exit  # how a command ends
def show(code):
    print(json.dumps(sorted(sys.modules)), file=sys.stderr, flush=True)
    end(code)
os._exit = show
from tickwright.command import main
main()
"""
PACKAGES = {"activities", "schedules", "tickwright", "worker", "workflows"}
OURS = PACKAGES | {
    "schedules.__main__",
    "schedules.console",
    "schedules.errors",
    "schedules.shadow",
    "schedules.text",
    "schedules.version",
    "tickwright.command",
    "tickwright.own_packages",
}
ENGINE = {"activities.occurrence", "activities.reboot_mark"}
ENGINE |= {f"schedules.{room}" for room in ("commands", "cron", "recurrence", "times")}
VIEWS = {"schedules.views"}
FORMAT = {"activities.contract", "activities.errors", "activities.notices", "activities.overlap", "activities.steps"}
FORMAT |= {"activities.databases", "activities.watchdog"}
FORMAT |= {
    "schedules.compile",
    "schedules.lint",
    "schedules.model",
    "schedules.project",
    "schedules.source",
    "schedules.spec",
}
READERS = {"annotated_types", "pydantic", "pydantic_core", "typing_extensions", "typing_inspection", "yaml"}
SLOW = {"asyncio", "concurrent", "http", "logging", "multiprocessing", "ssl", "subprocess", "unittest"}
"""Of the standard library: with these, a command that asks nobody starts like one that does."""
EXPRESSION = ["next", "--cron", "30 2 * * *", "--timezone", "America/New_York"]


@pytest.mark.parametrize(
    ("words", "ours", "theirs"),
    [
        (["--help"], OURS, set[str]()),
        ([*EXPRESSION, "--output", "json"], OURS | ENGINE, set[str]()),
        (EXPRESSION, OURS | ENGINE | VIEWS, set[str]()),
        (["next", "nightly", "FILE"], OURS | ENGINE | VIEWS | FORMAT, READERS),
        (["lint", "FILE"], OURS | ENGINE | VIEWS | FORMAT, READERS),
    ],
    ids=["help", "next as JSON", "next", "next of a job", "lint"],
)
def test_a_command_that_asks_nobody_loads_no_more_than_it_needs(
    words: list[str], ours: set[str], theirs: set[str], tmp_path: Path
) -> None:
    file = tmp_path / "jobs.yaml"
    file.write_text(
        "version: 1\nproject: shop\njobs:\n  nightly:\n    schedule: 0 3 * * *\n    timezone: UTC\n    timeout: 5m\n"
        "    run: {http: {url: 'https://shop.internal/nightly'}}\n"
    )
    argv = [sys.executable, "-S", "-c", CODE, *(str(file) if word == "FILE" else word for word in words)]
    env = {"PYTHONPATH": os.pathsep.join(sys.path)}  # without `site`, which loads what is installed beside us
    done = subprocess.run(argv, capture_output=True, text=True, env=env, check=True)
    loaded = set(json.loads(done.stderr.splitlines()[-1]))
    rooms = {".".join(name.split(".")[:2]) for name in loaded if name.split(".")[0] in PACKAGES}
    others = {name.split(".")[0] for name in loaded if not name.startswith(("_", "cython"))}
    assert rooms <= ours
    assert others - PACKAGES - sys.stdlib_module_names <= theirs
    assert not loaded & SLOW
