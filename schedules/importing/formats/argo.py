"""Argo CronWorkflows: times as in Kubernetes (robfig/cron v3), in the zone of `timezone`; what the workflow does needs an answer."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from schedules.importing.formats.cronjob import LITERAL, entry_of, rule_of
from schedules.importing.formats.cronjob_remarks import OVERLAPS, mapping_of
from schedules.importing.formats.manifests import load_objects
from schedules.importing.old_job import Loaded, OldJob, Policy, Remark
from schedules.importing.problem import ImportProblem
from schedules.importing.rules import UnionRule
from schedules.text.duration import format_duration
from schedules.text.literal import literal


def load_cron_workflows(text: str, file: str, zone: str) -> Loaded:
    """The CronWorkflows among the documents; anything else is dropped with its kind."""
    return load_objects(text, file, lambda item: _cron_workflow(item, file, zone))


def _cron_workflow(item: Mapping[str, Any], file: str, zone: str) -> OldJob | str:
    """The job, or in words what else the object is."""
    kind, meta, spec = item.get("kind"), mapping_of(item, "metadata"), mapping_of(item, "spec")
    name = str(meta.get("name") or meta.get("generateName") or "")
    if kind != "CronWorkflow" or not name:
        return f"{kind or 'an object without a kind'} {name}: no CronWorkflow with a name"
    given = spec.get("schedules") or [spec.get("schedule")]
    schedules = [str(each) for each in given if each] if isinstance(given, list) else []
    if not schedules:
        raise ImportProblem("it has no schedule")
    zone = str(spec.get("timezone") or zone)
    remarks = list(_remarks(spec))
    rule = None
    try:
        rule = UnionRule(tuple(rule_of(each, zone) for each in schedules))
    except ImportProblem as problem:
        remarks.append(Remark("schedule", "refused", str(problem)))
    entries = [entry_of(each) for each in schedules]
    policy = str(spec.get("concurrencyPolicy") or "Allow")
    job: dict[str, Any] = {
        "description": f"CronWorkflow {name}",
        "schedule": entries if len(entries) > 1 else entries[0],
        "timezone": zone,
        "dst": LITERAL,
        "overlap": OVERLAPS.get(policy, "allow_all"),
        "catchup": {"policy": "run_latest" if spec.get("startingDeadlineSeconds") else "skip"},
    }
    if isinstance(seconds := spec.get("startingDeadlineSeconds"), int) and seconds > 0:
        job["start_deadline"] = format_duration(timedelta(seconds=seconds))
    if spec.get("suspend") is True:
        job["paused"] = True
    job["run"] = _run(_entrypoint(mapping_of(spec, "workflowSpec")))
    source = f"kind: CronWorkflow, name: {name}, schedules: {', '.join(schedules)}"
    return OldJob(file, 0, name, source, [name], job, rule, _policies(policy, spec), remarks)


def _remarks(spec: Mapping[str, Any]) -> list[Remark]:
    found = [
        Remark(
            "workflow",
            "question",
            "it starts an Argo workflow: which steps, with which commands and on which workers, are that here?",
        )
    ]
    if not spec.get("timezone"):
        found.append(
            Remark(
                "timezone", "changed", "it has no timezone, so it follows the controller's; here the one that you gave"
            )
        )
    if spec.get("when"):
        found.append(Remark("when", "question", "`when` has no word here: under which condition does it run?"))
    if spec.get("stopStrategy"):
        found.append(Remark("stop-strategy", "changed", "stopStrategy has no word here and was left out"))
    return found


def _entrypoint(workflow: Mapping[str, Any]) -> Mapping[str, Any]:
    """The container of the template that the workflow begins with, in the shape of a pod."""
    for template in workflow.get("templates") or ():
        if isinstance(template, dict) and template.get("name") == workflow.get("entrypoint"):
            return {"containers": [template.get("container")]}
    return {}


def _policies(policy: str, spec: Mapping[str, Any]) -> tuple[Policy, ...]:
    deadline = spec.get("startingDeadlineSeconds")
    return (
        Policy("overlap", f"concurrencyPolicy: {policy}", f"overlap: {OVERLAPS.get(policy, 'allow_all')}"),
        Policy(
            "missed runs",
            f"the newest one within {deadline} s" if deadline else "none",
            "catchup: run_latest, start_deadline" if deadline else "catchup: skip",
        ),
        Policy("retries", "the retryStrategy of its templates", "none, until you add `retry`"),
        Policy("timeout", "activeDeadlineSeconds, if it has one", "the timeout that you gave for an attempt"),
        Policy("who is told", "onExit, if it has one", "nobody, until you add `on_failure`"),
    )


def _run(pod: Mapping[str, Any]) -> dict[str, Any]:
    """The command of the first container; what makes it an image's command is said in a question."""
    container = next((each for each in pod.get("containers") or () if isinstance(each, dict)), {})
    words = [str(word) for key in ("command", "args") for word in (container.get(key) or ())]
    run: dict[str, Any] = {"argv": literal(words) or ["./entrypoint"]}
    env = {
        str(each["name"]): _env_value(each)
        for each in container.get("env") or ()
        if isinstance(each, dict) and "name" in each
    }
    return {"command": run | ({"env": env} if env else {})}


def _env_value(entry: Mapping[str, Any]) -> str:
    if "value" in entry:
        return str(literal(str(entry["value"])))
    secret = mapping_of(mapping_of(entry, "valueFrom"), "secretKeyRef").get("key")
    return f"${{secret:{re.sub(r'[^A-Za-z0-9_]', '_', str(secret))}}}" if secret else ""
