"""Kubernetes CronJobs: rendered manifests, of one document or many, with or without a List around them (batch/v1 and v1beta1).

Times follow robfig/cron v3 in the zone of `timeZone`; policies follow the CronJob controller (`cronjob_controllerv2.go`).
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Final

from schedules.importing import fields
from schedules.importing.formats.cronjob_remarks import (
    NO_NAMESPACE,
    OVERLAPS,
    backoff_limit,
    mapping_of,
    policies_of,
    remarks_of,
    where_of,
)
from schedules.importing.formats.manifests import load_objects
from schedules.importing.old_job import Loaded, OldJob, Remark
from schedules.importing.problem import ImportProblem
from schedules.importing.rules import OldRule
from schedules.text.duration import format_duration
from schedules.text.literal import literal

LITERAL: Final = {"gap": "skip", "repeat": "both"}


def load_cronjobs(text: str, file: str, zone: str) -> Loaded:
    """The CronJobs among the documents; anything else is dropped with its kind."""
    return load_objects(text, file, lambda item: _cronjob(item, file, zone))


def _cronjob(item: Mapping[str, Any], file: str, zone: str) -> OldJob | str:
    """The job, or in words what else the object is."""
    kind, meta = item.get("kind"), mapping_of(item, "metadata")
    name = str(meta.get("name") or meta.get("generateName") or "")
    if kind != "CronJob":
        return f"{kind or 'an object without a kind'} {name}: no CronJob"
    spec = mapping_of(item, "spec")
    schedule = spec.get("schedule")
    if not name or not isinstance(schedule, str):
        raise ImportProblem("it has no schedule" if name else "it has no name")
    job_spec = mapping_of(mapping_of(spec, "jobTemplate"), "spec")
    pod = mapping_of(mapping_of(job_spec, "template"), "spec")
    namespace = meta.get("namespace")
    job: dict[str, Any] = {"description": f"CronJob {f'{namespace}/' if namespace else ''}{name}"}
    remarks = [*where_of(namespace, pod), *remarks_of(spec, job_spec, pod)]
    rule = None
    try:
        zone = str(spec.get("timeZone") or zone)
        rule = rule_of(schedule, zone)
    except ImportProblem as problem:
        remarks.append(Remark("schedule", "refused", str(problem)))
    job |= {"schedule": entry_of(schedule), "timezone": zone, "dst": LITERAL, **_policies(spec, job_spec)}
    if labels := {str(key): str(value) for key, value in mapping_of(meta, "labels").items()}:
        job["labels"] = labels
    job["run"] = _run(namespace, mapping_of(job_spec, "template"))
    return OldJob(
        file,
        0,
        name,
        f"kind: CronJob, name: {name}, schedule: {schedule}",
        [name],
        job,
        rule,
        policies_of(spec, job_spec),
        remarks,
    )


def rule_of(schedule: str, zone: str) -> OldRule:
    """What the expression means to robfig/cron. Raises ImportProblem."""
    if schedule.startswith(("CRON_TZ=", "TZ=")):
        raise ImportProblem("CRON_TZ in schedule: Kubernetes itself refuses it; write `timeZone`")
    return fields.robfig(schedule, zone)


def entry_of(schedule: str) -> Any:
    """The entry of the spec for an expression."""
    if schedule.startswith("@every "):
        try:
            return {"every": format_duration(fields.go_duration(schedule.removeprefix("@every ")))}
        except ImportProblem:
            return schedule
    return {"cron": schedule, "dialect": "kubernetes"}


def _policies(spec: Mapping[str, Any], job_spec: Mapping[str, Any]) -> dict[str, Any]:
    policy = str(spec.get("concurrencyPolicy") or "Allow")
    made: dict[str, Any] = {"overlap": OVERLAPS.get(policy, "allow_all"), "catchup": {"policy": "run_latest"}}
    if seconds := _seconds(spec, "startingDeadlineSeconds"):
        made["start_deadline"] = format_duration(seconds)
    if seconds := _seconds(job_spec, "activeDeadlineSeconds"):
        made["deadline"] = format_duration(seconds)
    if (attempts := backoff_limit(job_spec) + 1) > 1:
        made["retry"] = {"max_attempts": attempts, "backoff": "exponential", "initial": "10s", "max": "6m"}
    if spec.get("suspend") is True:
        made["paused"] = True
    return made


def _seconds(data: Mapping[str, Any], key: str) -> timedelta | None:
    value = data.get(key)
    return timedelta(seconds=value) if isinstance(value, int) and value > 0 else None


def _run(namespace: Any, template: Mapping[str, Any]) -> dict[str, Any]:
    """The pod template as it is; that it is not started again by its node is the step's own."""
    spec = {key: value for key, value in mapping_of(template, "spec").items() if key != "restartPolicy"}
    meta = {key: value for key in ("labels", "annotations") if (value := mapping_of(template, "metadata").get(key))}
    pod = {"metadata": meta, "spec": spec} if meta else {"spec": spec}
    return {"kubernetes": {"namespace": str(namespace or NO_NAMESPACE), "template": literal(pod)}}
