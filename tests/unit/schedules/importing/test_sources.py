"""Which sources are read and which are refused: clear errors, in bounded time, and what is broken does not take the rest with it."""

from __future__ import annotations

import io
import sys
from typing import TYPE_CHECKING

import pytest

from schedules.importing.problem import SourceError
from schedules.importing.report import times_text
from tests.importing import imported, of_text, only

if TYPE_CHECKING:
    from pathlib import Path

BOMB = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{name}: &{name} [{', '.join(['*' + before] * 9)}]\n" for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)
CRONJOB = """\
kind: CronJob
metadata: {name: NAME}
spec: {schedule: "0 2 * * *", timeZone: Europe/Berlin, jobTemplate: {spec: {template: {spec: {containers: [{image: a}]}}}}}
"""


@pytest.mark.parametrize(
    ("name", "data", "why"),
    [
        ("user.crontab", b"* * * * * a\n\0\1\2", ":2: a zero byte: this is not a text file"),
        ("settings.py", b"from celery import x\n# caf\xe9\n", ":2: not UTF-8"),
        ("user.crontab", b"#" * 5_000_001, "larger than 5 MB"),
        ("settings.py", b"from celery import x\ndef f(:\n", ":2: not Python"),
        ("settings.py", b"from celery import x\n" + b"(" * 3_000, "not Python"),
        ("dump.json", b'["django_celery_beat."', "not JSON"),
        ("dump.json", b'[{"model": "django_celery_beat."}]', "not a dump of Django models"),
        ("stack.json", b'{"AWS::Events::Rule": 1}', "neither a CloudFormation template nor"),
        ("notes.txt", b"hello", "its format is not certain; give --from"),
    ],
)
def test_a_source_that_cannot_be_read_says_why(tmp_path: Path, name: str, data: bytes, why: str) -> None:
    path = tmp_path / name
    path.write_bytes(data)

    with pytest.raises(SourceError, match=why.replace("(", r"\(")):
        imported(path)


def test_a_line_of_a_crontab_that_is_not_utf_8_is_left_out_and_the_rest_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "user.crontab"
    path.write_bytes(b"# caf\xe9\n0 3 * * * /bin/b\n0 4 * * * echo caf\xe9\n")

    found = imported(path)

    assert list(found.jobs) == ["b"]
    (line,) = found.dropped
    assert (line.line, line.no_job) == (3, False)
    assert line.text.endswith("echo caf\N{REPLACEMENT CHARACTER}")


def test_a_zone_that_there_is_not_is_asked_about_once(tmp_path: Path) -> None:
    job = only(of_text("CRON_TZ=Mars/X\n0 3 * * * /bin/a\n", tmp_path))

    (question,) = (each.text for each in job.remarks if each.kind == "question")
    assert question.startswith('timezone: "Mars/X" is not a time zone')


def test_what_is_not_there_or_empty_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="no such file"):
        imported(tmp_path / "none", kind="crontab")
    with pytest.raises(SourceError, match="no file in it"):
        imported(tmp_path, kind="cron.d")


def test_a_broken_line_is_left_out_with_its_place_and_the_rest_goes_on(tmp_path: Path) -> None:
    found = of_text("61 * * * * /bin/a\n0 3 * * * /bin/b\nhello\n", tmp_path)

    assert list(found.jobs) == ["b"]
    assert [(each.line, each.text) for each in found.dropped] == [
        (1, "`61` is not within 0 to 59: 61 * * * * /bin/a"),
        (3, "a schedule of 5 fields and a command were expected: hello"),
    ]


def test_a_yaml_bomb_and_a_template_spoil_their_own_document_alone(tmp_path: Path) -> None:
    text = "---\n".join(
        [CRONJOB.replace("NAME", "one"), BOMB, "a: {{ .Values.x }}: b\n", CRONJOB.replace("NAME", "two")]
    )
    found = of_text(text, tmp_path, "all.yaml", "cronjob")

    assert list(found.jobs) == ["one", "two"]
    bomb, template = found.dropped
    assert bomb.text == "it stands for more than 100,000 values"
    assert "render it first" in template.text


def test_a_folder_of_cron_d_is_read_as_debian_does(tmp_path: Path) -> None:
    for name in ("backup", "backup.dpkg-old", ".placeholder"):
        (tmp_path / name).write_text("0 3 * * * root /bin/backup\n", encoding="utf-8")
    found = imported(tmp_path, kind="cron.d")

    assert len(found.jobs) == 1
    assert sorted(each.file.rpartition("/")[2] for each in found.dropped) == [".placeholder", "backup.dpkg-old"]


@pytest.mark.parametrize("text", ["", "# no crontab for root\n", "MAILTO=x\n"])
def test_a_source_without_any_job_is_no_empty_spec(text: str, tmp_path: Path) -> None:
    """Such as what `crontab -l` leaves where it has failed: a sync with an empty file would delete what is there."""
    with pytest.raises(SourceError, match="no job in it"):
        of_text(text, tmp_path)


def test_standard_input_is_a_source(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"0 3 * * * /bin/backup --all\n")))

    assert list(imported("-", kind="crontab").jobs) == ["backup"]


def test_python_is_read_and_never_run(tmp_path: Path) -> None:
    text = """\
        import os
        from celery.schedules import crontab
        os.mkdir("ran")
        beat_schedule = {"a": {"task": "t.a", "schedule": crontab(hour=os.environ["HOUR"])}, "b": {"task": "t.b", "schedule": 60}}
    """
    found = of_text("\n".join(line.strip() for line in text.splitlines()), tmp_path, "settings.py")

    assert found.jobs["a"].job_class == "decide"
    assert found.jobs["b"].job_class == "changed"
    assert not (tmp_path / "ran").exists()


def test_names_are_unique_and_stay_when_lines_move(tmp_path: Path) -> None:
    lines = ["0 1 * * * /srv/a.sh x", "0 2 * * * /srv/a.sh x", "0 3 * * * /srv/b.sh", "0 3 * * * /srv/b.sh"]
    first = of_text("\n".join([*lines, ""]), tmp_path)
    moved = of_text("\n".join(["# new", *lines[::-1], ""]), tmp_path)

    assert len(first.jobs) == 4
    assert set(first.jobs) == set(moved.jobs)


def test_braces_of_a_command_are_no_templates_of_ours(tmp_path: Path) -> None:
    found = of_text("0 3 * * * awk '{print $1}' ${HOME}/x | xargs -I{} echo {}\n", tmp_path)

    assert only(found).job["run"]["command"]["argv"] == ["awk '{{print $1}}' ${{HOME}}/x | xargs -I{{}} echo {{}}"]
    assert only(found).job_class == "changed"


def test_a_job_whose_times_differ_is_never_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from schedules.importing import fields

    monkeypatch.setattr(fields, "vixie", lambda _text, zone: fields.celery("0", "4", "*", "*", "*", zone))
    found = of_text("0 3 * * * /bin/backup\n", tmp_path)

    assert only(found).job_class == "decide"
    assert "# backup:" in found.text
    assert not found.proofs["backup"].equal


def test_times_that_differ_on_days_of_clock_changes_alone_are_told(tmp_path: Path) -> None:
    """systemd runs a time that happens twice once, also of an hourly timer (seen with systemd 252); here it follows real time."""
    (tmp_path / "a.timer").write_text("[Timer]\nOnCalendar=hourly Europe/Berlin\n", encoding="utf-8")
    (tmp_path / "a.service").write_text("[Service]\nExecStart=/bin/a\n", encoding="utf-8")
    found = imported(tmp_path, kind="systemd")

    assert only(found).job_class == "changed"
    assert [f"{each.at:%Y-%m-%dT%H:%M}" for each in found.proofs["a"].differences] == ["2027-10-31T01:00"]


def test_an_apscheduler_step_without_an_end_goes_on_to_the_end_and_one_beyond_its_range_is_asked_about(
    tmp_path: Path,
) -> None:
    jobs = ("minute='5/15', id='a'", "hour='*/40', id='b'", "minute='15-16/2', id='c'", "hour=3, id='d'")
    head = "from apscheduler.schedulers.blocking import BlockingScheduler\n"
    text = head + "\n".join(f"s.add_job(f, 'cron', {job}, timezone='Europe/Berlin')" for job in jobs)
    found = of_text(text, tmp_path, "jobs.py")

    assert [found.jobs[name].job_class for name in "abcd"] == ["changed", "decide", "decide", "changed"]
    clocks = {f"{at:%M}" for at in found.proofs["a"].upcoming}
    assert clocks <= {"05", "20", "35", "50"}
    assert found.jobs["a"].job["schedule"] == "5-59/15 * * * *"
    notes = {name: [each.id for each in found.jobs[name].remarks] for name in "ad"}
    assert ["first-hour" in notes[name] for name in "ad"] == [True, False]  # 00:05, which it once leaves out


def test_times_are_compared_over_a_year_if_the_first_days_have_none(tmp_path: Path) -> None:
    found = of_text("*/5 * 24 12 * /bin/xmas\n0 0 30 2 * /bin/never\n", tmp_path)

    assert found.proofs["xmas"].compared == 24 * 12
    assert times_text(found.proofs["never"]).startswith("not compared: neither side has a time from ")


def test_weekdays_over_the_end_of_a_week_are_asked_about_as_systemd_refuses_them(tmp_path: Path) -> None:
    (tmp_path / "a.timer").write_text("[Timer]\nOnCalendar=Fri..Mon *-*-* 02:30\n", encoding="utf-8")
    (tmp_path / "a.service").write_text("[Service]\nExecStart=/bin/a\n", encoding="utf-8")

    assert only(imported(tmp_path, kind="systemd")).job_class == "cannot"
