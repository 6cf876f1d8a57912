"""`python -m schedules next` as a command: its document, its exit codes, and that it needs no server."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.processes import environment

GOOD = Path(__file__).parents[3] / "specs" / "good"


def run(*arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "schedules", "next", *arguments]
    return subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=60, cwd=cwd, env=environment({}, "")
    )


def occurrences(*arguments: str) -> list[str]:
    answer = run(*arguments, "--output", "json")
    assert (answer.returncode, answer.stderr) == (0, "")
    document: dict[str, list[str]] = json.loads(answer.stdout)
    assert list(document) == ["occurrences"]
    return document["occurrences"]


def test_an_expression_gives_one_document() -> None:
    found = occurrences(
        "--cron", "30 2 * * *", "--timezone", "America/New_York", "--from", "2027-03-13T12:00:00Z", "--count", "2"
    )
    assert found == ["2027-03-14T07:00:00Z", "2027-03-15T06:30:00Z"]


def test_policies_and_dialect_are_options() -> None:
    arguments = ["--timezone", "Europe/Berlin", "--from", "2027-03-27T12:00", "--count", "1"]
    assert occurrences("--cron", "0 30 2 * * ?", "--dialect", "quartz", "--dst-gap", "shift", *arguments) == [
        "2027-03-28T01:30:00Z"
    ]
    autumn = ["--timezone", "Europe/Berlin", "--from", "2027-10-31T00:00Z", "--count", "2"]
    assert occurrences("--cron", "30 2 * * *", "--dst-repeat", "both", *autumn) == [
        "2027-10-31T00:30:00Z", "2027-10-31T01:30:00Z",
    ]  # fmt: skip


def test_a_time_without_offset_is_local() -> None:
    assert occurrences(
        "--cron", "0 8 * * *", "--timezone", "Asia/Tokyo", "--from", "2027-03-01T08:00", "--count", "1"
    ) == ["2027-03-01T23:00:00Z"]


def test_a_job_of_a_file_is_asked_by_its_name() -> None:
    assert occurrences("payroll", str(GOOD / "calendars.yaml"), "--from", "2027-02-01T00:00Z", "--count", "1") == [
        "2027-02-11T14:00:00Z"
    ]


def test_without_a_path_the_files_of_this_directory_are_meant(tmp_path: Path) -> None:
    (tmp_path / "jobs.yaml").write_bytes((GOOD / "minimal.yaml").read_bytes())
    answer = run("report", "--from", "2027-03-01T00:00", "--count", "1", "--output", "json", cwd=tmp_path)
    assert json.loads(answer.stdout) == {"occurrences": ["2027-03-01T23:00:00Z"]}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--cron", "0 25 * * *"], "hour: 25 is out of range"),
        (["--cron", "0 0 12 * * ?"], "did you mean dialect quartz"),
        (["--cron", "0 8 * * *", "--timezone", "Europe/Berln"], "did you mean `Europe/Berlin`?"),
        (["--cron", "0 8 * * *", "--dialect", "vixie"], "--dialect: "),
        (["--cron", "0 8 * * *", "--from", "yesterday"], "--from yesterday: write a time"),
        (["--cron", "0 8 * * *", "--count", "0"], "--count 0: write a number"),
        (["payroll", "--timezone", "UTC"], "--timezone: only for --cron"),
        (["payrol", str(GOOD / "calendars.yaml")], "did you mean `payroll`?"),
        ([], "write either a JOB or --cron EXPR"),
        (["payroll", "--cron", "0 8 * * *"], "write either a JOB or --cron EXPR"),
        (["report", "no-such-file.yaml"], "there is no such file"),
    ],
)
def test_what_is_wrong_is_told_with_exit_code_2(arguments: list[str], said: str) -> None:
    answer = run(*arguments)

    assert (answer.returncode, answer.stdout) == (2, "")
    assert said in answer.stderr


def test_it_starts_without_temporal_and_without_pydantic() -> None:
    program = (
        "import sys, os, schedules.console.terminal as t; t.leave = lambda code: None; import schedules.__main__ as m;"
        " m.main(['next', '--cron', '0 8 * * *', '--output', 'json']);"
        " print([name for name in ('temporalio', 'pydantic', 'rich', 'yaml', 'holidays') if name in sys.modules])"
    )
    answer = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)
    assert answer.stderr.splitlines()[-1] == "[]"  # Beside the document, what is printed goes to standard error.


@pytest.mark.parametrize("start", ["1969-01-01", "1999-12-31", "2101-01-01", "9999-12-31", "0001-01-01T00:00+14:00"])
def test_years_that_no_server_knows_are_refused(start: str) -> None:
    answer = run("--cron", "0 9 * * *", "--from", start)
    assert (answer.returncode, answer.stderr.count("Traceback")) == (2, 0)
    assert "write a time from 2000-01-01 to 2100-12-31" in answer.stderr


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["CRON_TZ=localtime 0 9 * * *"], "'localtime' differs from machine to machine"),
        (["0 9 * * *", "--dialect", "vixie"], "--dialect: 'vixie' is no dialect"),
    ],
)
def test_an_option_is_refused_in_its_own_words(options: list[str], said: str) -> None:
    answer = run("--cron", *options)
    assert (answer.returncode, said in answer.stderr.replace("`", "'").replace('"', "'")) == (2, True), answer.stderr
