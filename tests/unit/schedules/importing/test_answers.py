"""Sources as people have them become what tests/cases/import/answers.jsonl says: worked out by hand and by a walk over real time."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from activities.steps.template import render
from schedules.cron.occurrences import occurrences_of
from schedules.lint.findings import findings
from schedules.lint.load import load_readable
from schedules.spec.job import JobSpec
from schedules.times.job import job_times
from tests.importing import SAMPLES, SETTINGS, SINCE, imported

if TYPE_CHECKING:
    from pathlib import Path

    from schedules.importing.imported import Imported
    from schedules.importing.old_job import OldJob
    from schedules.importing.sources import Format

ANSWERS = [json.loads(line) for line in (SAMPLES / "answers.jsonl").read_text(encoding="utf-8").splitlines()]
SOURCES: dict[str, tuple[list[str], Format | None]] = {
    "timers/report.timer": (["timers"], "systemd"),
    "timers/clean.timer": (["timers"], "systemd"),
}
EXTRA = {"cron-tz", "namespace", "ignored-failure"}
"""Remarks beyond those that the answers list."""
_MADE: dict[str, Imported] = {}


def made(file: str) -> Imported:
    paths, kind = SOURCES.get(file, ([file], None))
    if file not in _MADE:
        _MADE[file] = imported(*(SAMPLES / path for path in paths), kind=kind)
    return _MADE[file]


def job_of(answer: dict[str, Any]) -> tuple[str, OldJob]:
    line = int(answer["at"].removeprefix("line ")) if answer["at"].startswith("line ") else 0
    found = made(answer["file"])
    wanted = {"cronjobs.yaml", "periodic_tasks.json", "celery_settings.py", "eventbridge.json", "nightly_dag.py"}
    (pair,) = [
        (name, job)
        for name, job in found.jobs.items()
        if (job.line == line if line else job.name == answer["at"] or (answer["file"] not in wanted and not line))
        and job.file.endswith(answer["file"].rpartition("/")[2])
    ]
    return pair


@pytest.mark.parametrize("answer", ANSWERS, ids=lambda each: f"{each['file']}:{each['at']}")
def test_a_source_becomes_what_it_means(answer: dict[str, Any]) -> None:
    if answer.get("ignored"):
        assert any(answer["at"] in each.text for each in made(answer["file"]).dropped)
        return
    name, job = job_of(answer)
    said = {remark.id for remark in job.remarks if remark.kind != "kept" or remark.id == "dst"}
    if "refused" in answer:
        assert job.job_class in {"decide", "cannot"}
        assert f"  {name}:" not in made(answer["file"]).text
        return
    assert {each for each in said if not each.startswith("lint-")} - EXTRA == set(answer["said"])
    _check_job(job.job, answer)
    _check_times(job, answer)


def _check_job(job: Any, answer: dict[str, Any]) -> None:
    expected = {
        "overlap": answer.get("overlap"),
        "start_deadline": answer.get("start_deadline"),
        "deadline": answer.get("deadline"),
        "jitter": answer.get("jitter"),
        "paused": answer.get("paused"),
        "task_queue": answer.get("queue"),
        "timeout": answer.get("timeout"),
    }
    for key, value in expected.items():
        if value is not None:
            assert job[key] == value
    assert answer.get("catchup") in {None, job["catchup"]["policy"]}
    if attempts := answer.get("max_attempts"):
        assert job["retry"]["max_attempts"] == attempts
    if every := answer.get("every"):
        assert job["schedule"] == {"every": every}
    assert "schedule_at" not in answer or job["schedule"] == {"at": answer["schedule_at"]}
    if names := answer.get("steps"):
        assert [step["name"] for step in job["steps"]] == names
    assert "union" not in answer or len(job["schedule"]) == answer["union"]
    assert answer.get("description") in {None, job.get("description")}
    if "args" in answer or "kwargs" in answer:
        given = {key: answer[key] for key in ("args", "kwargs") if key in answer}
        assert job["run"]["python"]["params"] == given
    _check_command(job, answer)


def _check_command(job: Any, answer: dict[str, Any]) -> None:
    command = (job.get("run") or {"command": job.get("steps", [{}])[-1].get("command")}).get("command") or {}
    if wanted := answer.get("command"):
        (text,) = command["argv"] if command.get("shell") else command["argv"][2:]
        if stdin := answer.get("stdin"):
            assert text == f"(\n{wanted}\n) <<'TICKWRIGHT_STDIN'\n{stdin}TICKWRIGHT_STDIN\n"
        else:
            assert text.replace("{{", "{").replace("}}", "}") == wanted
    if "env" in answer:
        assert command["env"] == answer["env"]
    if "cwd" in answer:
        assert command["cwd"] == answer["cwd"]


def _check_times(job: OldJob, answer: dict[str, Any]) -> None:
    if not (wanted := answer.get("next3_after_2027-03-01T00:00:00Z")):
        return
    spec = JobSpec.model_validate({"name": "job", "timezone": "UTC", "timeout": "1h", **job.job})
    times = occurrences_of(job_times(spec, "imported", SINCE).times)
    ours = list(islice(times.between(SINCE + timedelta(seconds=1), datetime(2028, 3, 1, tzinfo=UTC)), 3))
    assert [f"{at:%Y-%m-%dT%H:%M:%SZ}" for at in ours] == wanted
    assert job.rule is not None
    old = islice((at for at in job.rule.between(SINCE, datetime(2028, 3, 1, tzinfo=UTC)) if at > SINCE), 3)
    assert [f"{at:%Y-%m-%dT%H:%M:%SZ}" for at in old] == wanted
    assert spec.timezone == answer["timezone"]


@pytest.mark.parametrize("file", sorted({answer["file"] for answer in ANSWERS}))
def test_the_file_passes_lint_strictly_and_is_the_same_twice(file: str, tmp_path: Path) -> None:
    found = made(file)
    paths, kind = SOURCES.get(file, ([file], None))
    path = tmp_path / "imported.yaml"
    path.write_text(found.text, encoding="utf-8")

    again = imported(*(SAMPLES / each for each in paths), kind=kind, since=SINCE + timedelta(days=40))
    project, times = load_readable([str(path)], None, None, SINCE)
    warned = [each for each in findings(project, times, SINCE) if each.severity != "info"]

    assert again.text == found.text
    assert warned == []
    assert {job.name for job in project.jobs} == {
        name for name, job in found.jobs.items() if job.job_class in {"exact", "changed"}
    }
    assert SETTINGS.project == project.name


def test_each_proof_compares_a_year_with_both_changes_of_clocks() -> None:
    proof = made("cronjobs.yaml").proofs["backup"]

    assert proof.equal
    assert [f"{each:%Y-%m-%d}" for each in proof.clock_changes] == ["2027-03-28", "2027-10-31"]
    assert (proof.spans[0][1] - proof.spans[0][0]).days >= 366


def test_a_cron_job_becomes_a_job_with_its_pod_template() -> None:
    found = made("cronjobs.yaml")
    backup, reindex = found.jobs["backup"], found.jobs["reindex"]
    assert (backup.job_class, reindex.job_class) == ("changed", "changed")
    documents = filter(None, yaml.safe_load_all((SAMPLES / "cronjobs.yaml").read_text(encoding="utf-8")))
    [source] = [each for each in documents if each["metadata"]["name"] == "backup"]
    template = source["spec"]["jobTemplate"]["spec"]["template"]
    del template["spec"]["restartPolicy"]
    assert backup.job["run"] == {"kubernetes": {"namespace": "shop", "template": template}}
    assert reindex.job["run"]["kubernetes"]["template"]["spec"]["containers"][0]["envFrom"] == [
        {"secretRef": {"name": "shop"}}
    ]


@pytest.mark.parametrize(
    ("changes", "asked"),
    [
        ({"metadata": {"name": "a"}}, "namespace"),
        ({"spec": {"containers": []}}, "image"),
        ({"spec": {"containers": [{"name": "a", "image": "a"}, {"name": "b", "image": "b"}]}}, "sidecar"),
        ({"spec": {"containers": [{"name": "a", "image": "a"}], "initContainers": [{"name": "b", "image": "b"}]}}, ""),
        ({"spec": {"containers": [{"name": "a", "image": "a", "command": ["sh", "-c", "echo ${A} {b}"]}]}}, ""),
    ],
)
def test_what_a_cron_job_leaves_open_is_asked(changes: dict[str, Any], asked: str, tmp_path: Path) -> None:
    pod = changes.get("spec", {"containers": [{"name": "a", "image": "a"}]})
    meta = changes.get("metadata", {"name": "a", "namespace": "shop"})
    spec = {
        "schedule": "0 3 * * *",
        "timeZone": "UTC",
        "jobTemplate": {"spec": {"template": {"metadata": {"creationTimestamp": None}, "spec": pod}}},
    }
    file = tmp_path / "a.yaml"
    file.write_text(json.dumps({"apiVersion": "batch/v1", "kind": "CronJob", "metadata": meta, "spec": spec}))
    found = imported(file, kind="cronjob")
    assert [remark.id for remark in found.jobs["a"].remarks if remark.kind == "question"] == ([asked] if asked else [])
    (tmp_path / "made.yaml").write_text(found.text)
    if not asked:
        [job] = load_readable([str(tmp_path / "made.yaml")], None, None, SINCE)[0].jobs
        assert job.run is not None
        assert render(job.run.handler.step_params()["template"], {}) == {"spec": pod}
