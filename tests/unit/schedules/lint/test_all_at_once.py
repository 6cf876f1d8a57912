"""Faults of every stage are told in one run, each once: of one file and of several, of many jobs and of one."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from schedules.compile.job import compile_project
from schedules.errors import SpecError
from schedules.lint.load import check_project, load_compiled
from schedules.times import job as job_times

if TYPE_CHECKING:
    from collections.abc import Iterable

    from schedules.spec.job import JobSpec
    from schedules.times.job import JobTimes

NOW = datetime(2027, 3, 1, tzinfo=UTC)
HEAD = "version: 1\nproject: shop\ndefaults: {timezone: Europe/Berlin, timeout: 5m}\njobs:\n"
MISSPELT = '  misspelt: {schedule: "0 1 * * *", run: {command: ["true"]}, timeuot: 5m}\n'
MINUTE = '  minute: {schedule: "61 1 * * *", run: {command: ["true"]}}\n'
TEMPLATE = '  template: {schedule: "0 1 * * *", run: {command: [echo, "{nothing}"]}}\n'
STEP = '  step: {schedule: "0 1 * * *", steps: [{name: a, command: ["true"], needs: [b]}]}\n'
NEVER = '  never: {schedule: "0 0 30 2 *", run: {command: ["true"]}}\n'
RIGHT = '  right: {schedule: "0 2 * * *", run: {command: ["true"]}}\n'
FAULTS = (MISSPELT, MINUTE, TEMPLATE, STEP, NEVER)
WORDS = ("timeuot: unknown key", "minute", "`{nothing}`", "there is no step `b`", "never fires")


def write(folder: Path, texts: Iterable[str]) -> list[str]:
    """One file for each text."""
    files = [(folder / f"{index}.yaml", text) for index, text in enumerate(texts)]
    for file, text in files:
        file.write_text(HEAD + text, encoding="utf-8")
    return [str(file) for file, _ in files]


def told(paths: list[str]) -> list[str]:
    return [str(problem) for problem in check_project(paths, None, None, NOW).problems]


@pytest.mark.parametrize("texts", [["".join((RIGHT, *FAULTS))], [RIGHT, *FAULTS]], ids=["one file", "six files"])
def test_every_stage_is_told_at_once_and_each_fault_once(tmp_path: Path, texts: list[str]) -> None:
    lines = told(write(tmp_path, texts))

    assert len(lines) == len(FAULTS)
    assert [word in line for word, line in zip(WORDS, lines, strict=True)] == [True] * len(WORDS)


def test_a_sync_is_refused_with_all_of_them(tmp_path: Path) -> None:
    with pytest.raises(SpecError) as refused:
        load_compiled(write(tmp_path, ["".join(FAULTS)]), None, None, NOW)
    assert len(refused.value.problems) == len(FAULTS)


def test_a_file_that_is_no_yaml_hides_nothing_in_another(tmp_path: Path) -> None:
    lines = told(write(tmp_path, ['  a: "', NEVER]))
    assert len(lines) == 2
    assert "never fires" in lines[1]


@pytest.mark.parametrize(
    ("job", "words"),
    [
        ('{schedule: "0 0 30 2 *", run: {command: ["{nothing}"]}, descripton: a}', ["unknown key", "never", "nothing"]),
        ('{schedule: "0 0 30 2 *", steps: [{name: a, command: ["{b}"], needs: [c]}]}', ["never", "no step `c`", "{b}"]),
        ('{schedule: "61 0 * * *", run: {command: ["{nothing}"]}}', ["61", "nothing"]),
        ('{schedule: "0 0 30 2 *", run: {htpp: {url: a}}}', ["never", "unknown key"]),
        ('{schedule: "0 0 30 2 *", except: [off], run: {command: ["{b}"]}}', ["off", "{b}"]),
        ('{schedule: "0 1 * * *", deadline: 1m, descripton: a, run: {command: ["a"]}}', ["deadline", "unknown key"]),
    ],
)
def test_the_faults_of_one_job_are_told_together(tmp_path: Path, job: str, words: list[str]) -> None:
    lines = told(write(tmp_path, [f"  a: {job}\n"]))
    assert len(lines) == len(words)
    assert all(any(word in line for line in lines) for word in words)


@pytest.mark.parametrize(
    "job",
    [
        '{schedul: "0 0 30 2 *", run: {command: ["a"]}}',
        '{schedule: "0 1 * * *", overlp: allow_all, catchup: {policy: run_all, max_missed: 3}, run: {command: ["a"]}}',
        '{schedule: "0 1 * * *", rum: {command: ["a"]}}',
        '{schedule: "0 1 * * *", steps: [{name: a, command: ["{steps.b.output}"], nedds: [b]}, {name: b, command: [c]}]}',
        '{schedule: "0 1 * * *", on_failur: [ops], run: {command: ["a"]}}',
    ],
)
def test_what_hangs_on_a_misspelt_key_is_not_told(tmp_path: Path, job: str) -> None:
    (line,) = told(write(tmp_path, [f"  a: {job}\n"]))
    assert "unknown key" in line


def test_each_job_is_compiled_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[str] = []
    real = job_times._Compiler.compile

    def counted(self: object, job: JobSpec) -> JobTimes:
        compiled.append(job.name)
        return real(self, job)  # type: ignore[arg-type]  # the compiler of another file

    monkeypatch.setattr(job_times._Compiler, "compile", counted)
    names = [f"job-{number}" for number in range(20)]
    files = write(tmp_path, ["".join(RIGHT.replace("right", name) for name in names)])
    project, times = load_compiled(files, None, None, NOW)

    assert list(compile_project(project, NOW, times)) == names
    assert compiled == names
