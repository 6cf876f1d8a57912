"""Help and messages: within the terminal's width, and with the one name of the command."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from schedules.__main__ import VERBS as SCHEDULES
from schedules.__main__ import command_parser
from tests.ceilings import PACKAGES, ROOT
from tickwright.command import VERBS as OTHERS

WIDTH = 80
VERBS = {**SCHEDULES, **OTHERS}
MODULE = re.compile(r"python -m (?:schedules|worker(?!\.codec_server))")
PROGRAMS = {
    f"python -m {name}" for name in ("schedules", "schedules.sync", "schedules.monitor", "worker", "worker.dev")
}
"""What a command that was started so calls itself in its usage."""


@pytest.mark.parametrize("words", [(), *((verb,) for verb in VERBS)])
def test_no_help_is_wider_than_a_terminal(
    words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", str(WIDTH))
    with pytest.raises(SystemExit):
        command_parser([*words, "--help"], VERBS, "tickwright").parse_args([*words, "--help"])

    assert [line for line in capsys.readouterr().out.splitlines() if len(line) > WIDTH] == []


def texts(file: Path) -> list[str]:
    """What a module may say: its strings without its docstrings."""
    tree = ast.parse(file.read_text())
    strings = [node for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    alone = {node.value for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    return [str(node.value) for node in strings if node not in alone]


def test_messages_and_pages_call_the_command_by_its_one_name() -> None:
    modules = [file for package in PACKAGES for file in (ROOT / package).rglob("*.py")]
    pages = [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("schedules/board/page/*.*")]
    found = [(file.name, text) for file in modules for text in texts(file) if text not in PROGRAMS]
    found += [(file.name, line) for file in pages for line in file.read_text().splitlines()]

    assert [
        (name, text)
        for name, text in found
        if MODULE.search(text) and "is the same" not in text and "are the same" not in text
    ] == []
