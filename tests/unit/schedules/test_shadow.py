"""Folders with modules called as ours are, which Temporal's own samples have."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]


def command(folder: Path) -> subprocess.CompletedProcess[str]:
    argv = [sys.executable, "-m", "schedules.sync", "--help"]
    return subprocess.run(argv, cwd=folder, env={"PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("module", ["activities.py", "workflows.py", "workflows/__init__.py"])
def test_a_command_says_which_module_is_in_its_way(module: str, tmp_path: Path) -> None:
    shadow = tmp_path / module
    shadow.parent.mkdir(exist_ok=True)
    shadow.touch()
    ended = command(tmp_path)
    assert ended.returncode == 2
    assert ended.stderr.startswith(f"{shadow} has the name of a part of Tickwright")
    assert len(ended.stderr.splitlines()) == 1


def test_other_modules_and_folders_are_in_nobodys_way(tmp_path: Path) -> None:
    (tmp_path / "activities").mkdir()
    (tmp_path / "jobs.py").touch()
    assert command(tmp_path).returncode == 0
