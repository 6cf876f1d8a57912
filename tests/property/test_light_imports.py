"""What lint and the wire format load."""

from __future__ import annotations

import subprocess
import sys

import pytest


@pytest.mark.parametrize(
    ("module", "kept_out"),
    [
        ("activities.contract", ["temporalio", "pydantic", "structlog", "aiohttp"]),
        ("activities.steps.template", ["temporalio", "pydantic", "aiohttp"]),
        ("activities.idempotency", ["temporalio", "pydantic", "aiohttp"]),
        ("activities.registry", ["temporalio", "aiohttp", "structlog"]),
        ("activities.steps.secrets", ["temporalio", "aiohttp"]),
        ("worker.app", ["aiohttp", "yarl", "apprise", "requests"]),
    ],
)
def test_module_loads_without_what_it_does_not_need(module: str, kept_out: list[str]) -> None:
    code = f"import sys, {module}; print([name for name in {kept_out} if name in sys.modules])"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert shown == "[]\n"


def test_the_package_offers_what_a_module_with_handlers_needs_without_temporal() -> None:
    code = "import sys; from activities import handler, JobContext, HandlerError; print('temporalio' in sys.modules)"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert shown == "False\n"


def test_the_commands_say_what_they_take_without_loading_temporal() -> None:
    code = (
        "import sys, argparse\nfrom schedules.__main__ import VERBS\n"
        "for _, configure in VERBS.values(): configure(argparse.ArgumentParser())\n"
        "print([name for name in ('temporalio', 'rich', 'pydantic') if name in sys.modules])"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert shown == "[]\n"
