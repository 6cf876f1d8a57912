"""GitHub Actions: the `schedule` of workflow files. Times are in UTC; GitHub starts them late, and drops some when it is busy."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import PurePath
from typing import Any, Final

import yaml

from schedules.importing import fields
from schedules.importing.formats.manifests import parsed
from schedules.importing.old_job import Dropped, Loaded, OldJob, Policy, Remark
from schedules.importing.problem import ImportProblem, SourceError
from schedules.importing.rules import UnionRule
from schedules.importing.shape import loaded
from schedules.text.literal import literal

POLICIES: Final = (
    Policy("overlap", "runs side by side, unless `concurrency` is set", "overlap: allow_all"),
    Policy("missed runs", "late at busy hours, and sometimes never", "catchup: run_latest"),
    Policy("retries", "none", "none"),
    Policy("timeout", "timeout-minutes of a job, six hours by default", "the timeout that you gave for an attempt"),
    Policy("who is told", "who wrote the workflow last, by mail", "nobody, until you add `on_failure`"),
)
MACHINE: Final = "it runs on a machine of GitHub (runs-on: {runner}) with {uses}: what do workers need for that?"


def load_github(text: str, file: str) -> Loaded:
    """One spec job for each job of a workflow that has a schedule. Raises SourceError for what is no workflow."""
    try:
        data = parsed(text)
    except (yaml.YAMLError, ImportProblem, RecursionError) as error:
        raise SourceError(f"{file}: not YAML that can be read: {error}") from None
    triggers = data.get("on", data.get(True)) if isinstance(data, dict) else None  # YAML 1.1 reads `on` as true
    jobs = data.get("jobs") if isinstance(data, dict) else None
    if not isinstance(jobs, dict) or triggers is None:
        raise SourceError(f"{file}: no workflow of GitHub Actions (`on` and `jobs`)")
    entries = triggers.get("schedule") if isinstance(triggers, dict) else None
    entries = entries if isinstance(entries, list) else []
    crons = [str(each["cron"]) for each in entries if isinstance(each, dict) and "cron" in each]
    if not crons:
        return Loaded([], [Dropped(file, 0, "it has no `schedule`: events start it, not the clock", no_job=True)])
    name = str(data.get("name") or PurePath(file).stem)
    return loaded(
        file, ((f"{key}", partial(_job, file, name, str(key), each, crons, len(jobs))) for key, each in jobs.items())
    )


def _job(file: str, workflow: str, key: str, given: Mapping[str, Any], crons: list[str], count: int) -> OldJob:
    name = workflow if count == 1 else f"{workflow} {key}"
    remarks = list(_remarks(given, crons))
    rule = None
    try:
        rule = UnionRule(tuple(fields.five_fields(each, "UTC", fields.VIXIE, _starred) for each in crons))
    except ImportProblem as problem:
        remarks.append(Remark("schedule", "refused", str(problem)))
    job: dict[str, Any] = {
        "description": name,
        "schedule": crons if len(crons) > 1 else crons[0],
        "timezone": "UTC",
        "overlap": "allow_all",
        "catchup": {"policy": "run_latest"},
    }
    if isinstance(minutes := given.get("timeout-minutes"), int) and minutes > 0:
        job["timeout"] = f"{minutes}m"
    job["run"] = {"command": {"argv": [_script(given) or "true"], "shell": True}}
    return OldJob(file, 0, name, f"{name}: {', '.join(crons)}", [name], job, rule, POLICIES, remarks)


def _starred(field: str, _other: str) -> bool:
    return field.startswith("*")


def _script(given: Mapping[str, Any]) -> str:
    """All its `run` steps as one text, which ends with the first that fails, as there."""
    runs = [str(each["run"]).strip() for each in given.get("steps") or () if isinstance(each, dict) and "run" in each]
    return literal("\n".join(["set -e", *runs])) if runs else ""


def _remarks(given: Mapping[str, Any], crons: list[str]) -> Iterator[Remark]:
    uses = [str(each["uses"]) for each in given.get("steps") or () if isinstance(each, dict) and "uses" in each]
    yield Remark(
        "machine", "question", MACHINE.format(runner=given.get("runs-on", "?"), uses=", ".join(uses) or "no actions")
    )
    if "${{" in _script(given).replace("{{{{", "{{"):
        yield Remark("expressions", "question", "`${{ … }}` in its steps is GitHub's: what stands there on a worker?")
    if given.get("needs"):
        yield Remark("needs", "question", "it needs another job of the workflow: are they steps of one job?")
    if any(each.split()[:1] == ["0"] for each in crons):
        yield Remark("late", "kept", "GitHub starts runs late at the top of the hour; here they start on time")
