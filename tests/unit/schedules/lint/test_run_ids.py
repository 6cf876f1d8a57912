"""Jobs whose runs would have the same ids."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from schedules.errors import SpecError
from schedules.lint.load import load_checked

if TYPE_CHECKING:
    from pathlib import Path

HEAD = "version: 1\nproject: shop\ndefaults: {timezone: UTC, timeout: 5m}\n"


def direct(name: str, own: str = "") -> str:
    return f"  {name}: {{schedule: '@daily', run: {{workflow: {{type: W, direct: {{{own}}}}}}}}}\n"


def test_two_jobs_with_one_id_of_their_runs_are_refused(tmp_path: Path) -> None:
    command = "  d: {schedule: '@daily', run: {command: [a]}}\n"
    path = tmp_path / "a.yaml"
    path.write_text(
        HEAD + "jobs:\n" + direct("a", "id: users") + direct("b", "id: users") + direct("c", "id: d") + command
    )

    with pytest.raises(SpecError) as caught:
        load_checked([str(path)], None)

    first, second = (each.message for each in caught.value.problems)
    assert first == "the ids of its runs begin with `users`, as those of the job `a` do; write another `direct.id`"
    assert second == "the ids of its runs begin with `d`, as those of the job `d` do; write another `direct.id`"


def test_jobs_with_ids_of_their_own_are_not(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_text(HEAD + "jobs:\n" + direct("a", "id: b-runs") + direct("b"))

    assert len(load_checked([str(path)], None).jobs) == 2
