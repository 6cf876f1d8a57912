"""Who wrote: the line, the note, the commit."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from schedules.console.progress import Lines, Reason
from schedules.notes import may_overwrite
from schedules.plan.change import Delete, Update
from schedules.plan.differences import FieldDiff
from schedules.plan.plan import Applied
from schedules.sync.audit import Audit, audit_of, write_line
from tests.factories import desired, observed, utc

AT, WANTED = utc("2027-03-01T09:00:05"), desired("dunning")


def test_a_line_says_when_who_from_which_commit_and_what() -> None:
    diff = tuple(FieldDiff(f"times.f{number}", 1, 2) for number in range(7))
    line = Audit("ann@host", "1a2b3c4").line(Applied(Update(WANTED, observed(WANTED), diff), "applied"), AT)
    assert line == (
        "2027-03-01T09:00:05Z ann@host, commit 1a2b3c4: update dunning applied "
        "(times.f0, times.f1, times.f2, times.f3, times.f4 and 2 more)"
    )
    assert Audit("ann@host").line(Applied(Delete(observed(desired("x"))), "failed"), AT) == (
        "2027-03-01T09:00:05Z ann@host: delete x failed"
    )


def test_only_what_was_tried_has_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    for result in ("planned", "unchanged", "applied", "failed"):
        write_line(Audit("ann@host"), Applied(Delete(observed(desired("x"))), result))
    out, err = capsys.readouterr()
    assert out == ""
    assert [line.split()[-1] for line in err.splitlines()] == ["applied", "failed"]


@pytest.mark.parametrize(
    ("note", "ours"), [("", True), ("Tickwright: created by x", True), ("ask Ann", False), (" ", False)]
)
def test_an_operators_note_is_not_ours(note: str, ours: bool) -> None:
    assert may_overwrite(note) == ours


def test_our_own_note_is_known_again() -> None:
    assert may_overwrite(Audit("ann@host", "1a2b3c4").note("created", AT))


def git(folder: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=Ann", "-c", "user.email=ann@example.org"]
    return subprocess.run(
        ["git", "-C", folder, *identity, *arguments], check=True, capture_output=True, text=True
    ).stdout.strip()


def test_the_commit_is_that_of_the_specs(tmp_path: Path) -> None:
    file = tmp_path / "jobs.yaml"
    file.write_text("version: 1\n")
    assert audit_of([str(file)]).commit == ""
    git(tmp_path, "init", "--quiet")
    assert audit_of([str(file)]).commit == "", "no commit yet"
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "--quiet", "-m", "one")
    commit = git(tmp_path, "rev-parse", "--short=12", "HEAD")
    assert audit_of([str(file)]).commit == commit
    assert audit_of([str(tmp_path)]).commit == commit
    file.write_text("version: 2\n")
    assert audit_of([str(file)]).commit == f"{commit}-dirty"


def test_a_spec_that_is_in_no_commit_is_not_told_as_of_one(tmp_path: Path) -> None:
    """Neither an untracked one nor an ignored one; other files beside the specs do not count."""
    git(tmp_path, "init", "--quiet")
    (tmp_path / "specs").mkdir()
    committed, other = tmp_path / "specs" / "jobs.yaml", tmp_path / "specs" / "other.yaml"
    committed.write_text("version: 1\n")
    (tmp_path / ".gitignore").write_text("ignored\n")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "--quiet", "-m", "one")
    commit = git(tmp_path, "rev-parse", "--short=12", "HEAD")
    (tmp_path / "specs" / "notes.txt").write_text("for people")
    (tmp_path / "unrelated.yaml").write_text("a: 1\n")
    assert audit_of([str(tmp_path / "specs")]).commit == commit
    other.write_text("version: 1\n")
    assert audit_of([str(other)]).commit == f"{commit}-dirty"
    assert audit_of([str(committed)]).commit == commit
    assert audit_of([str(committed), str(other)]).commit == f"{commit}-dirty"
    assert audit_of([str(tmp_path / "specs")]).commit == f"{commit}-dirty"
    other.unlink()
    hidden = tmp_path / "specs" / "ignored" / "jobs.yaml"
    hidden.parent.mkdir()
    hidden.write_text("version: 1\n")
    assert audit_of([str(hidden)]).commit == f"{commit}-dirty"
    assert audit_of([str(tmp_path / "specs")]).commit == f"{commit}-dirty"


@pytest.mark.parametrize("paths", [[], ["no/such/place/jobs.yaml"], ["package.module:jobs"]])
def test_without_git_there_is_somebody_all_the_same(
    paths: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    audit = audit_of(paths)
    assert audit.commit == ""
    assert "@" in audit.who
    monkeypatch.setenv("PATH", str(tmp_path))
    assert audit_of(["."]).commit == ""


def test_progress_in_a_log_is_a_line_every_five_seconds() -> None:
    now, said = [0.0], list[str]()
    lines = Lines(100, said.append, lambda: now[0], lambda: "--rate 4")
    for _ in range(50):
        now[0] += 0.25
        lines()
    assert said == [
        "20 of 100 changes, 4.0 a second, 20 s to go; limited by --rate 4",
        "40 of 100 changes, 4.0 a second, 15 s to go; limited by --rate 4",
    ]


@pytest.mark.parametrize(
    ("limit", "processor", "said"),
    [
        ("--rate 4", 1.0, "--rate 4"),
        ("", 0.9, "this machine's processor"),
        ("", 0.3, "the server, which takes this long to answer"),
    ],
)
def test_who_waits_is_told_what_takes_the_time(limit: str, processor: float, said: str) -> None:
    now = [0.0]
    reason = Reason(lambda: limit, lambda: now[0], lambda: processor * now[0])
    now[0] = 10.0
    assert reason() == said
