"""Broken spec files, each with one fault: what the user is told, to the letter."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from schedules.lint.load import check_project
from schedules.source.load import SpecError, load_project

NOW = datetime(2027, 3, 1, tzinfo=UTC)
BAD = Path(__file__).parents[3] / "specs" / "bad"
CASES = sorted(path for path in BAD.iterdir() if path.suffix != ".txt")


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.name)
def test_a_fault_is_told_at_its_place_and_nothing_else_is(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(BAD)
    expected = (BAD / f"{path.stem}.txt").read_text(encoding="utf-8")

    with pytest.raises(SpecError) as caught:
        load_project([path.name])

    assert f"{caught.value}\n" == expected


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.name)
def test_no_later_check_finds_a_second_fault(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The rest of a job with a fault is read all the same: for what is wrong in it, and for nothing else."""
    monkeypatch.chdir(BAD)
    problems = check_project([path.name], None, None, NOW).problems

    told = "".join(f"{problem}\n" for problem in problems)
    assert told == (BAD / f"{path.stem}.txt").read_text(encoding="utf-8")


def test_every_expectation_has_its_file() -> None:
    assert {path.stem for path in BAD.glob("*.txt")} == {path.stem for path in CASES}
    assert len(CASES) >= 45
