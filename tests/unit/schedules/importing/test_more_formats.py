"""GitHub Actions, Argo, Nomad, sidekiq-cron, solid_queue and App Engine: what their expressions mean, worked out from their own manuals."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import islice
from typing import TYPE_CHECKING, Any

import pytest

from schedules.importing.problem import SourceError
from tests.importing import SINCE, imported, of_text, only

if TYPE_CHECKING:
    from pathlib import Path

    from schedules.importing.sources import Format

YEARS = datetime(2031, 1, 1, tzinfo=UTC)


def times(text: str, folder: Path, name: str, kind: Format | None = None) -> list[str]:
    """The first three times of the one job, and that its spec fires just then."""
    found = of_text(text, folder, name, kind)
    job = only(found)
    assert job.rule is not None
    assert all(proof.equal for proof in found.proofs.values()), found.proofs
    assert len(found.proofs) == 1
    return [f"{at:%m-%d %H:%M}" for at in islice(job.rule.between(SINCE, YEARS), 3)]


APP_ENGINE = [
    ("every 12 hours", ["03-01 00:00", "03-01 12:00", "03-02 00:00"]),
    ("every 5 minutes synchronized", ["03-01 00:00", "03-01 00:05", "03-01 00:10"]),
    ("every day 00:00", ["03-01 00:00", "03-02 00:00", "03-03 00:00"]),
    ("every monday 09:00", ["03-01 09:00", "03-08 09:00", "03-15 09:00"]),
    ("2nd,third mon,wed,thu of march 17:00", ["03-08 17:00", "03-10 17:00", "03-11 17:00"]),
    ("1st monday of sep,oct,nov 17:00", ["09-06 17:00", "10-04 17:00", "11-01 17:00"]),
    ("1,15 of month 06:30", ["03-01 06:30", "03-15 06:30", "04-01 06:30"]),
    ("first day of 1st month of quarter 04:00", ["04-01 04:00", "07-01 04:00", "10-01 04:00"]),
]


@pytest.mark.parametrize(("words", "expected"), APP_ENGINE)
def test_app_engine_speaks_in_words(words: str, expected: list[str], tmp_path: Path) -> None:
    text = f'cron:\n- {{url: /x, schedule: "{words}"}}\n'
    assert times(text, tmp_path, "cron.yaml", "app-engine") == expected


@pytest.mark.parametrize("words", ["every 5 minutes from 10:00 to 14:00", "sometimes", "every 7 minutes synchronized"])
def test_what_is_not_read_is_asked_for(words: str, tmp_path: Path) -> None:
    found = of_text(f'cron:\n- {{url: /x, schedule: "{words}"}}\n', tmp_path, "cron.yaml", "app-engine")
    assert "schedule" in {each.id for each in only(found).remarks if each.kind == "question"}


FUGIT = [
    ("0 4 * * *", ["03-01 04:00", "03-02 04:00", "03-03 04:00"]),
    ("0 4 * * 7", ["03-07 04:00", "03-14 04:00", "03-21 04:00"]),
    ("0 4 */2 * 5", ["03-01 04:00", "03-03 04:00", "03-05 04:00"]),  # either one: Friday the 5th, and odd days
    (
        "30 6 * * 1 America/New_York",
        ["03-01 11:30", "03-08 11:30", "03-15 10:30"],
    ),  # over the change of clocks of 14 March
    ("5/20 4 * * *", ["03-01 04:05", "03-01 04:25", "03-01 04:45"]),
    ("0 0 5 3 */1", ["03-01 00:00", "03-02 00:00", "03-03 00:00"]),  # either one, and any weekday will do
    ("0 0 */1 * 1", ["03-01 00:00", "03-08 00:00", "03-15 00:00"]),  # as if it were a star
    ("every 20 minutes", ["03-01 00:00", "03-01 00:20", "03-01 00:40"]),
    ("every hour at minute 12", ["03-01 00:12", "03-01 01:12", "03-01 02:12"]),
    ("every day at 5pm", ["03-01 17:00", "03-02 17:00", "03-03 17:00"]),
    ("@hourly", ["03-01 00:00", "03-01 01:00", "03-01 02:00"]),
]


@pytest.mark.parametrize(("expression", "expected"), FUGIT)
def test_ruby_reads_expressions_by_fugit(expression: str, expected: list[str], tmp_path: Path) -> None:
    text = f'clean: {{cron: "{expression}", class: Clean}}\n'
    assert times(text, tmp_path, "schedule.yml", "sidekiq-cron") == expected


@pytest.mark.parametrize(
    "expression", ["*/30 * * * * *", "every 7 minutes", "every tuesday at noon", "0 4 * * * Not/AZone", "5/1 4 * * *"]
)
def test_words_of_ruby_that_are_not_read_are_asked_for(expression: str, tmp_path: Path) -> None:
    found = of_text(f'clean: {{cron: "{expression}", class: Clean}}\n', tmp_path, "schedule.yml", "sidekiq-cron")
    assert [each.id for each in only(found).remarks if each.kind == "question"] == ["schedule"]


def argv_of(job: Any) -> list[str]:
    argv: list[str] = job["run"]["command"]["argv"]
    return argv


def test_ruby_puts_its_job_into_its_queue_as_before(tmp_path: Path) -> None:
    sidekiq = 'a: {cron: "0 4 * * *", class: Hard, queue: low, args: [1, "it\'s", null, true], status: disabled}\n'
    found = only(of_text(sidekiq, tmp_path, "schedule.yml", "sidekiq-cron"))
    assert argv_of(found.job) == ["bin/rails", "runner", "Hard.set(queue: 'low').perform_async(1, 'it\\'s', nil, true)"]
    assert found.job["paused"] is True
    assert found.job_class == "changed"
    solid = (
        'production:\n  a: {class: A, schedule: "0 4 * * *"}\ndevelopment:\n  a: {class: A, schedule: "* * * * *"}\n'
    )
    loaded = of_text(solid, tmp_path, "recurring.yml")
    assert argv_of(only(loaded).job)[2] == "A.perform_later()"
    assert [each.text for each in loaded.dropped] == ["environment development: the jobs of production were taken"]


GITHUB = """\
name: Nightly
on:
  schedule: [{cron: "30 5 * * 1,3"}, {cron: "0 0 13 * 5"}]
jobs:
  build:
    runs-on: ubuntu-latest
    timeout-minutes: 30
    steps: [{uses: actions/checkout@v4}, {run: make nightly}, {run: "echo {x}"}]
"""


def test_a_workflow_of_github_is_a_job_of_its_run_steps(tmp_path: Path) -> None:
    (tmp_path / ".github" / "workflows").mkdir(parents=True)
    path = tmp_path / ".github" / "workflows" / "nightly.yml"
    path.write_text(GITHUB, encoding="utf-8")
    found = imported(path)
    job = only(found)
    assert argv_of(job.job) == ["set -e\nmake nightly\necho {{x}}"]
    assert (job.job["timezone"], job.job["timeout"], job.job_class) == ("UTC", "30m", "decide")
    assert job.rule is not None
    assert [f"{at:%m-%d %H:%M}" for at in islice(job.rule.between(SINCE, YEARS), 4)] == [
        "03-01 05:30",
        "03-03 05:30",
        "03-05 00:00",
        "03-08 05:30",
    ]
    assert found.proofs["nightly"].equal


ARGO = """\
kind: CronWorkflow
metadata: {name: hello}
spec:
  schedules: ["*/5 * * * *", "0 2 */2 * 1"]
  timezone: America/Los_Angeles
  concurrencyPolicy: Replace
  startingDeadlineSeconds: 90
  suspend: true
  workflowSpec: {entrypoint: main, templates: [{name: main, container: {image: a, command: [sh], args: ["{x}"]}}]}
---
kind: ConfigMap
"""


def test_an_argo_cron_workflow_keeps_its_policies(tmp_path: Path) -> None:
    found = of_text(ARGO, tmp_path, "all.yaml")
    job = only(found)
    kept = {key: job.job[key] for key in ("timezone", "overlap", "start_deadline", "paused")}
    assert kept == {
        "timezone": "America/Los_Angeles",
        "overlap": "cancel_other",
        "start_deadline": "1m30s",
        "paused": True,
    }
    assert argv_of(job.job) == ["sh", "{{x}}"]
    assert found.proofs["hello"].equal
    assert len(found.dropped) == 1


NOMAD = """\
{"Job": {"ID": "backup",
  "Periodic": {"Enabled": true, "Spec": "30 2 */2 * 1", "SpecType": "cron", "ProhibitOverlap": true, "TimeZone": "UTC"},
  "TaskGroups": [{"Tasks": [{"Driver": "DRIVER", "Config": {"command": "/bin/backup", "args": ["--all"]}, "Env": {"A": "1"}}]}]}}
"""


def test_a_periodic_job_of_nomad_is_a_command(tmp_path: Path) -> None:
    text = NOMAD.replace("DRIVER", "exec")
    assert times(text, tmp_path, "nomad.json") == ["03-01 02:30", "03-03 02:30", "03-05 02:30"]
    either_day = text.replace("30 2 */2 * 1", "5/20 2 */1 * 1")
    assert times(either_day, tmp_path, "nomad.json") == ["03-01 02:05", "03-01 02:25", "03-01 02:45"]
    late = only(of_text(text.replace("30 2 */2 * 1", "30 2 31 * 1"), tmp_path, "nomad.json"))
    assert [each.id for each in late.remarks if each.kind == "question"] == ["schedule"]
    in_berlin = only(of_text(text.replace('"UTC"', '"Europe/Berlin"'), tmp_path, "nomad.json"))
    assert [each.kind for each in in_berlin.remarks if each.id == "clock-change"] == ["changed"]
    job = only(of_text(text, tmp_path, "nomad.json"))
    assert job.job["run"] == {"command": {"argv": ["/bin/backup", "--all"], "env": {"A": "1"}}}
    assert (job.job["overlap"], job.job_class) == ("skip", "exact")
    assert only(of_text(NOMAD.replace("DRIVER", "docker"), tmp_path, "nomad.json")).job_class == "decide"


@pytest.mark.parametrize(
    ("name", "kind", "text"),
    [
        ("job.hcl", "nomad", 'job "a" { periodic { cron = "@daily" } }'),
        ("a.json", "nomad", "[1]"),
        ("a.yml", "github", "a: ["),
        ("a.yml", "github", "- a"),
        ("cron.yaml", "app-engine", "cron: 5"),
        ("cron.yaml", "app-engine", "[" * 2_000),
        ("schedule.yml", "sidekiq-cron", "5"),
        ("schedule.yml", "sidekiq-cron", "a: &a [*a, *a]"),
    ],
)
def test_what_is_none_of_them_says_so(name: str, kind: Format, text: str, tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=name):
        of_text(text, tmp_path, name, kind)
