"""EventBridge: schedules and rules of a CloudFormation template (JSON or YAML) or of `terraform show -json`.

cron(…) has six fields, counts weekdays from Sunday = 1, and wants `?` in one of the two day fields. EventBridge Scheduler skips a
local time that does not exist, and runs one that happens twice once.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import timedelta
from functools import partial
from typing import Any, Final

import yaml

from schedules.importing.formats.eventbridge_expression import parse_expression
from schedules.importing.naming import ascii_slug
from schedules.importing.old_job import Loaded, OldJob, Policy, Remark
from schedules.importing.problem import ImportProblem, SourceError
from schedules.importing.rules import GridRule, OldRule
from schedules.importing.shape import UNSHAPED, loaded
from schedules.text.duration import format_duration

ONCE: Final = {"gap": "skip", "repeat": "first"}
DEFAULT_ATTEMPTS: Final = 186
CLOUDFORMATION: Final = {"AWS::Scheduler::Schedule", "AWS::Events::Rule"}
TERRAFORM: Final = {"aws_scheduler_schedule", "aws_cloudwatch_event_rule"}
ATTRIBUTES: Final = {
    "<aws.scheduler.scheduled-time>": "{scheduled_at:%Y-%m-%dT%H:%M:%S%z}",
    "<aws.scheduler.execution-id>": "{run_id}",
    "<aws.scheduler.attempt-number>": "{attempt}",
    "<aws.scheduler.schedule-arn>": "{job}",
}


def load_eventbridge(text: str, file: str) -> Loaded:
    """The schedules among the resources; without a zone of their own they are in UTC, as on AWS. Raises SourceError where the text is neither of the two."""
    data = _parsed(text, file)
    try:
        resources = list(_resources(data, file))
    except UNSHAPED:
        raise SourceError(f"{file}: its resources have not the shape of CloudFormation or Terraform") from None
    return loaded(file, ((name, partial(_resource, file, name, kind, given)) for name, kind, given in resources))


def _resource(file: str, name: str, kind: str, properties: Mapping[str, Any]) -> OldJob | str:
    if kind in CLOUDFORMATION:
        return _job(file, name, properties)
    return _job(file, name, _from_terraform(properties)) if kind in TERRAFORM else f"{name}: {kind}: no schedule"


def _parsed(text: str, file: str) -> Any:
    try:
        return json.loads(text) if text.lstrip().startswith("{") else yaml.load(text, Loader=_Loader)  # noqa: S506  safe
    except (ValueError, yaml.YAMLError, RecursionError) as error:
        raise SourceError(f"{file}: neither JSON nor YAML that can be read: {error}") from None


class _Loader(yaml.SafeLoader):
    """CloudFormation's short functions (`!Ref`, `!Sub`, `!GetAtt`) are kept as their text."""


_Loader.add_multi_constructor(
    "!", lambda _loader, suffix, node: f"!{suffix} {node.value if isinstance(node.value, str) else ''}".strip()
)


def _resources(data: Any, file: str) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    if isinstance(data, dict) and isinstance(data.get("Resources"), dict):
        for name, each in data["Resources"].items():
            properties = each.get("Properties") if isinstance(each, dict) else None
            kind = str(each.get("Type")) if isinstance(each, dict) else "?"
            yield (
                str((properties or {}).get("Name") or name)
                if kind in CLOUDFORMATION and isinstance((properties or {}).get("Name", ""), str)
                else str(name),
                kind,
                properties if isinstance(properties, dict) else {},
            )
    elif isinstance(data, dict) and ("planned_values" in data or "values" in data):
        yield from _modules((data.get("values") or data.get("planned_values") or {}).get("root_module") or {})
    else:
        raise SourceError(f"{file}: neither a CloudFormation template nor `terraform show -json`")


def _modules(module: Mapping[str, Any]) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    for each in module.get("resources") or ():
        values = each.get("values") or {}
        yield str(values.get("name") or each.get("name")), str(each.get("type")), values
    for child in module.get("child_modules") or ():
        yield from _modules(child)


def _from_terraform(values: Mapping[str, Any]) -> dict[str, Any]:
    """Terraform's words as CloudFormation's."""

    def block(key: str, of: Mapping[str, Any] = values) -> Mapping[str, Any]:
        found = of.get(key)
        found = found[0] if isinstance(found, list) and found else found
        return found if isinstance(found, dict) else {}

    target, window = block("target"), block("flexible_time_window")
    retry = block("retry_policy", target)
    return {
        "ScheduleExpression": values.get("schedule_expression"),
        "ScheduleExpressionTimezone": values.get("schedule_expression_timezone"),
        "State": values.get("state"),
        "FlexibleTimeWindow": {"MaximumWindowInMinutes": window.get("maximum_window_in_minutes")},
        "Target": {
            "Arn": target.get("arn"),
            "Input": target.get("input"),
            "RetryPolicy": {
                "MaximumRetryAttempts": retry.get("maximum_retry_attempts"),
                "MaximumEventAgeInSeconds": retry.get("maximum_event_age_in_seconds"),
            },
        },
    }


def _job(file: str, name: str, properties: Mapping[str, Any]) -> OldJob:
    expression = properties.get("ScheduleExpression")
    zone = str(properties.get("ScheduleExpressionTimezone") or "UTC")
    remarks = list[Remark]()
    rule: OldRule | None = None
    job: dict[str, Any] = {"description": f"EventBridge schedule {name}"}
    try:
        rule, job["schedule"] = parse_expression(expression, zone)
        if isinstance(rule, GridRule):
            remarks.append(
                Remark(
                    "phase",
                    "changed",
                    "rate(…) counts from when it was created or changed; here it counts from midnight UTC on",
                )
            )
    except ImportProblem as problem:
        remarks.append(Remark("schedule", "refused", str(problem)))
    target = _target(properties)
    arn = str(target.get("Arn") or "")
    remarks.append(
        Remark(
            "target",
            "question",
            f"it starts {arn or 'a target'} with an AWS role: which http step, command or function does that here?",
        )
    )
    job |= {"timezone": zone, "dst": ONCE, **_policies(properties, target)}
    job["run"] = {
        "http": {"url": f"https://{ascii_slug(arn.rpartition(':')[2]) or 'target'}.example.invalid/", **_input(target)}
    }
    return OldJob(file, 0, name, f"{name}: {expression}", [name], job, rule, _stated(target), remarks)


def _target(properties: Mapping[str, Any]) -> Mapping[str, Any]:
    found = properties.get("Target")
    if not isinstance(found, dict):
        targets = properties.get("Targets")
        found = targets[0] if isinstance(targets, list) and targets else None
    return found if isinstance(found, dict) else {}


def _policies(properties: Mapping[str, Any], target: Mapping[str, Any]) -> dict[str, Any]:
    made: dict[str, Any] = {"overlap": "allow_all", "catchup": {"policy": "run_latest"}}
    window = properties.get("FlexibleTimeWindow")
    if isinstance(window, dict) and isinstance(minutes := window.get("MaximumWindowInMinutes"), int) and minutes > 0:
        made["jitter"] = format_duration(timedelta(minutes=minutes))
    retry = target.get("RetryPolicy")
    retry = retry if isinstance(retry, dict) else {}
    if isinstance(age := retry.get("MaximumEventAgeInSeconds"), int) and age > 0:
        made["start_deadline"] = format_duration(timedelta(seconds=age))
    attempts = retry.get("MaximumRetryAttempts")
    made["retry"] = {"max_attempts": (attempts if isinstance(attempts, int) else DEFAULT_ATTEMPTS - 1) + 1}
    if properties.get("State") == "DISABLED":
        made["paused"] = True
    return made


def _input(target: Mapping[str, Any]) -> dict[str, Any]:
    given = target.get("Input")
    if not isinstance(given, str) or not given:
        return {}
    text = given.replace("{", "{{").replace("}", "}}")
    for attribute, template in ATTRIBUTES.items():
        text = text.replace(attribute, template)
    return {"body": text}


def _stated(target: Mapping[str, Any]) -> tuple[Policy, ...]:
    return (
        Policy("overlap", "a target is called while it still works", "overlap: allow_all"),
        Policy("missed runs", "AWS delivers late, up to the event's age", "catchup: run_latest"),
        Policy("retries", "MaximumRetryAttempts, 185 by default", "retry.max_attempts: one more"),
        Policy("timeout", "the target's own", "the timeout that you gave"),
        Policy(
            "notices",
            "a dead-letter queue" if target.get("DeadLetterConfig") else "none",
            "none, until you add `on_failure`",
        ),
    )
