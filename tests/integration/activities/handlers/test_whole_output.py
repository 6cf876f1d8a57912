"""The whole output of a command, where a folder for it is given."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from activities.contract import StepCall
from tests.integration.step_failures import details_of, failure_of
from tests.step_calls import bench, step_call

SECRET = "tr0ub4dor"
PRINT = "import os, sys\nfor number in range(5000): print(number, os.environ['TOKEN'] if number == 2500 else '')\nsys.exit({code})"


def names_in(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


def prints(code: int = 0) -> StepCall:
    """5,000 lines, the secret in the middle of them."""
    params = {"argv": [sys.executable, "-c", PRINT.replace("{code}", str(code))], "env": {"TOKEN": "${secret:TOKEN}"}}
    return step_call("command", params)


async def test_a_long_output_is_in_a_file_whole_and_without_secrets(tmp_path: Path) -> None:
    async with bench(outputs_dir=tmp_path, secrets={"TOKEN": SECRET}) as made:
        output = (await made.run(prints())).output

    place = tmp_path / "invoice-dunning" / "2027-03-01T13:00:00Z" / "run-id-1" / "run-1.stdout"
    assert output["whole"] == {"stdout": str(place)}
    assert place.read_text() == "".join(f"{number} {'***' if number == 2500 else ''}\n" for number in range(5000))
    assert place.stat().st_mode & 0o777 == 0o640
    assert names_in(place.parent) == [place.name]


async def test_a_failure_names_it_too_and_each_attempt_has_its_own(tmp_path: Path) -> None:
    async with bench(outputs_dir=tmp_path, secrets={"TOKEN": SECRET}) as made:
        made.at_attempt(2)
        error = await failure_of(made, prints(code=3))

    folder = tmp_path / "invoice-dunning" / "2027-03-01T13:00:00Z" / "run-id-1"
    assert details_of(error)["whole"] == {"stdout": str(folder / "run-2.stdout")}
    assert names_in(folder) == ["run-2.stdout"]


async def test_a_short_output_is_in_the_result_alone(tmp_path: Path) -> None:
    async with bench(outputs_dir=tmp_path) as made:
        output = (await made.run(step_call("command", {"argv": ["echo", "done"]}))).output

    assert output == {"exit_code": 0, "stdout": "done\n", "stderr": ""}
    assert names_in(tmp_path) == []


async def test_a_folder_that_takes_nothing_fails_no_step(tmp_path: Path) -> None:
    folder = tmp_path / "a file"
    folder.touch()
    async with bench(outputs_dir=folder, secrets={"TOKEN": SECRET}) as made:
        output = (await made.run(prints())).output

    assert output["whole"] == {"stdout": "not kept: Not a directory"}


async def test_what_is_too_long_is_said_and_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("activities.steps.whole.MOST", 10_000)
    async with bench(outputs_dir=tmp_path, secrets={"TOKEN": SECRET}) as made:
        output = (await made.run(prints())).output

    assert output["whole"] == {"stdout": "not kept: it is longer than 10.0 kB"}
