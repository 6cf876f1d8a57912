"""`python -m schedules lint` as a command: places, exit codes, and that sync refuses the same errors."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.processes import run_command

if TYPE_CHECKING:
    from tests.servers import DevServer

SPEC = """\
version: 1
project: shop
calendars:
  off: {{holidays: US}}
defaults: {{timezone: America/New_York, timeout: 5m, except: [off]}}
jobs:
  report:
    schedule: "{cron}"
    run: {{command: ["true"]}}
"""


def spec(tmp_path: Path, cron: str) -> Path:
    path = tmp_path / "jobs.yaml"
    path.write_text(SPEC.format(cron=cron), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("cron", "strict", "code", "ids"),
    [
        ("0 8 * * *", False, 0, ["calendar-horizon"]),
        ("0 8 * * *", True, 0, ["calendar-horizon"]),
        ("30 2 * * *", False, 0, ["dst-unspecified", "dst-horizon", "calendar-horizon"]),
        ("30 2 * * *", True, 2, ["dst-unspecified", "dst-horizon", "calendar-horizon"]),
        ("0 0 30 2 *", False, 2, ["never-fires", "calendar-horizon"]),
        ("0 25 * * *", False, 2, ["spec"]),
    ],
)
async def test_errors_and_strict_warnings_mean_exit_code_2(
    tmp_path: Path,
    cron: str,
    strict: bool,
    code: int,
    ids: list[str],
) -> None:
    options = ["--strict"] if strict else []
    answer = await run_command("schedules", "lint", spec(tmp_path, cron), "--output", "json", *options)

    document = json.loads(answer.stdout)
    assert answer.code == code
    assert [each["id"] for each in document["findings"]] == ids
    assert document["errors"] == (code == 2 and not strict)


async def test_a_finding_names_its_place_its_key_and_its_id(tmp_path: Path) -> None:
    path = spec(tmp_path, "30 2 * * *")
    answer = await run_command("schedules", "lint", path)

    first, *_, last = answer.stderr.splitlines()
    assert first.startswith(f"{path}:8:15: jobs.report.schedule: warning: on ")
    assert first.endswith(" [dst-unspecified]")
    assert last == "shop/default: 1 job, 1 warning"


async def test_what_cannot_be_read_is_a_document_too(tmp_path: Path) -> None:
    answer = await run_command("schedules", "lint", spec(tmp_path, "0 25 * * *"), "--output", "json")

    (finding,) = json.loads(answer.stdout)["findings"]
    assert (finding["id"], finding["line"], finding["column"], finding["path"]) == (
        "spec",
        8,
        15,
        "jobs.report.schedule",
    )


async def test_sync_refuses_what_lint_calls_an_error_and_not_what_it_warns_of(
    tmp_path: Path, server: DevServer
) -> None:
    refused = await run_command("schedules.sync", spec(tmp_path, "0 0 30 2 *"), "--dry-run", env=server.environ)
    warned = await run_command("schedules.sync", spec(tmp_path, "30 2 * * *"), "--dry-run", env=server.environ)

    assert (refused.code, warned.code) == (2, 0)
    assert "jobs.yaml:8:15: jobs.report.schedule: never fires" in refused.stderr


async def test_a_local_time_that_does_not_exist_is_told_at_its_entry(tmp_path: Path) -> None:
    path = spec(tmp_path, "0 8 * * *")
    text = path.read_text(encoding="utf-8").replace('"0 8 * * *"', '["0 8 * * *", {at: 2027-03-14T02:30}]')
    path.write_text(text, encoding="utf-8")

    answer = await run_command("schedules", "lint", path)

    assert answer.code == 2
    assert f"{path}:8:29: jobs.report.schedule[1]: at: 2027-03-14T02:30:00 does not exist" in answer.stderr


async def test_a_limit_of_nothing_is_refused(tmp_path: Path) -> None:
    answer = await run_command("schedules", "lint", spec(tmp_path, "0 8 * * *"), "--max-starts-per-second", "0")

    assert (answer.code, "--max-starts-per-second 0: write a number above 0" in answer.stderr) == (2, True)


@pytest.mark.parametrize(
    ("schedule", "said"),
    [
        (
            '{at: "0001-01-01T00:00+14:00"}',
            "jobs.report.schedule: at: 0001-01-01T00:00:00+14:00 is no time of a schedule",
        ),
        ("{at: 2300-01-01T00:00}", "at: 2300-01-01T00:00:00 is no time of a schedule"),
        ('["TZ=Europe/Berlin 0 9 * * *", "TZ=Asia/Tokyo 0 9 * * *"]', "the zones Asia/Tokyo and Europe/Berlin"),
    ],
)
async def test_times_that_no_schedule_can_have_are_told_at_their_place(
    tmp_path: Path, schedule: str, said: str
) -> None:
    path = spec(tmp_path, "0 8 * * *")
    path.write_text(path.read_text(encoding="utf-8").replace('"0 8 * * *"', schedule), encoding="utf-8")
    answer = await run_command("schedules", "lint", path)
    assert (answer.code, answer.stderr.count("Traceback")) == (2, 0)
    assert f"{path}:8:" in answer.stderr
    assert said in answer.stderr
