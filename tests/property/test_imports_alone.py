"""Each command loads by itself: no module relies on what another command happened to load before."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from schedules.__main__ import VERBS

EACH_ALONE = """
import json, os, sys
import aiohttp, prometheus_client, pydantic, structlog, temporalio.client, temporalio.worker, yaml
for code in json.load(sys.stdin):
    if not (pid := os.fork()):
        exec(code)
        os._exit(0)
    if os.waitpid(pid, 0)[1]:
        sys.exit(f"not by itself: {code}")
"""
"""Copies of a process that has loaded none of our modules, only those of others."""


def late_imports(module: str) -> str:
    """The module, then all that its functions import when they are called, as code in their order."""
    spec = find_spec(module)
    assert spec
    assert spec.origin
    functions = [
        node for node in ast.walk(ast.parse(Path(spec.origin).read_text())) if isinstance(node, ast.FunctionDef)
    ]
    imports = [line for each in functions for line in ast.walk(each) if isinstance(line, ast.Import | ast.ImportFrom)]
    return "\n".join([f"import {module}", *map(ast.unparse, imports)])


def alone(codes: list[str]) -> subprocess.CompletedProcess[str]:
    given = json.dumps(codes)
    return subprocess.run([sys.executable, "-c", EACH_ALONE], input=given, capture_output=True, text=True, check=False)


def test_each_command_loads_by_itself() -> None:
    modules = [
        *(module for _, module in VERBS.values()),
        "worker.__main__",
        "schedules.sync.run",
    ]
    codes = [late_imports(module) for module in modules]
    assert sum(code.count("\n") for code in codes) > len(codes)
    done = alone(codes)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("code", ["import schedules.nowhere", "import schedules\nschedules.ledger.records"])
def test_one_that_does_not_is_named(code: str) -> None:
    done = alone(["import schedules.commands.next", code])
    assert done.returncode == 1
    assert f"not by itself: {code}" in done.stderr
