"""`tickwright import` as a command: files, streams, exit codes, and what it never overwrites."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from tests.importing import SAMPLES
from tests.processes import run_command

if TYPE_CHECKING:
    from pathlib import Path

ZONE = ("--timezone", "Europe/Berlin", "--timeout", "1h")
EXACT = 'MAILTO=""\n0 3 * * * /srv/backup.sh\n'


async def test_it_writes_the_file_once_and_overwrites_no_edit(tmp_path: Path) -> None:
    source, target = tmp_path / "user.crontab", tmp_path / "jobs.yaml"
    source.write_text(EXACT, encoding="utf-8")

    first = await run_command("schedules", "import", source, *ZONE, "-o", target)
    again = await run_command("schedules", "import", source, *ZONE, "-o", target)
    written = target.read_text(encoding="utf-8")
    target.write_text(written.replace("allow_all", "skip"), encoding="utf-8")
    edited = await run_command("schedules", "import", source, *ZONE, "-o", target)
    kept = target.read_text(encoding="utf-8")
    forced = await run_command("schedules", "import", source, *ZONE, "-o", target, "--force")

    assert (first.code, again.code, edited.code, forced.code) == (0, 0, 1, 0)
    assert "-    overlap: skip" in edited.stderr
    assert "nothing was written" in edited.stderr
    assert "overlap: skip" in kept
    assert target.read_text(encoding="utf-8") == written
    assert (await run_command("schedules", "lint", "--strict", target)).code == 0


async def test_exit_codes_tell_what_needs_an_answer() -> None:
    crontab, cronjobs = SAMPLES / "user.crontab", SAMPLES / "cronjobs.yaml"

    assert (await run_command("schedules", "import", crontab, *ZONE)).code == 0
    assert (await run_command("schedules", "import", crontab, *ZONE, "--strict")).code == 1
    assert (await run_command("schedules", "import", cronjobs, *ZONE)).code == 3
    assert (await run_command("schedules", "import", SAMPLES / "answers.jsonl", *ZONE)).code == 2


async def test_what_may_be_a_job_and_cannot_be_read_needs_an_answer(tmp_path: Path) -> None:
    source = tmp_path / "user.crontab"
    for text, code in (("", 0), ("61 3 * * * /srv/verify.sh\n", 3), ("PATH=/bin\n", 0)):
        source.write_text(EXACT + text, encoding="utf-8")
        done = await run_command("schedules", "import", source, *ZONE)
        assert (done.code, "1 may be jobs that could not be read" in done.stderr) == (code, code == 3), done.stderr


async def test_zone_and_timeout_are_asked_for_and_checked() -> None:
    crontab = SAMPLES / "user.crontab"

    assert (await run_command("schedules", "import", crontab, "--timezone", "UTC")).code == 2
    wrong = await run_command("schedules", "import", crontab, "--timezone", "Berlin", "--timeout", "1h")
    assert (wrong.code, "--timezone: " in wrong.stderr) == (2, True)
    wrong = await run_command("schedules", "import", crontab, "--timezone", "UTC", "--timeout", "60")
    assert (wrong.code, "--timeout: " in wrong.stderr) == (2, True)


async def test_json_is_one_document_on_standard_output() -> None:
    answer = await run_command("schedules", "import", SAMPLES / "periodic_tasks.json", *ZONE, "--output", "json")

    document = json.loads(answer.stdout)
    assert document["counts"] == {"exact": 0, "changed": 4, "decide": 1, "cannot": 0}
    (once,) = [job for job in document["jobs"] if job["name"] == "migrate-once"]
    assert once["times"]["next"] == ["2027-05-01T06:30:00Z"]
    assert document["spec"].startswith("# Written by `tickwright import`")


async def test_without_a_file_the_spec_is_on_standard_output_and_the_report_on_standard_error() -> None:
    answer = await run_command("schedules", "import", SAMPLES / "nightly_dag.py", *ZONE)

    assert answer.stdout.startswith("# Written by")
    assert answer.stderr.startswith("1 job: 1 decide")


async def test_markdown_has_a_table_of_all_jobs() -> None:
    answer = await run_command("schedules", "import", SAMPLES / "user.crontab", *ZONE, "--output", "markdown")

    assert answer.stdout.count("| changed |") == 11
