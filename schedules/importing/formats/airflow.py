"""Airflow DAGs that are used as cron: schedule, policies, and Bash operators in their order, read from the file's syntax tree."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any, Final

from schedules.importing import fields
from schedules.importing.formats.airflow_dag import Dag, dags_of
from schedules.importing.formats.python_source import Call, Reader, Unknown, parsed, whole_seconds
from schedules.importing.old_job import Dropped, Loaded, OldJob, Policy, Remark
from schedules.importing.problem import ImportProblem
from schedules.importing.rules import GridRule, OldRule
from schedules.text.duration import format_duration

LITERAL: Final = {"gap": "skip", "repeat": "both"}
PRESETS: Final = {"@hourly", "@daily", "@weekly", "@monthly", "@yearly", "@annually", "@midnight"}
TEMPLATES: Final = {
    "ds": "{interval_start:%F}",
    "ds_nodash": "{interval_start:%Y%m%d}",
    "ts": "{interval_start:%Y-%m-%dT%H:%M:%S%z}",
    "logical_date": "{interval_start:%Y-%m-%dT%H:%M:%S%z}",
    "execution_date": "{interval_start:%Y-%m-%dT%H:%M:%S%z}",
    "data_interval_start": "{interval_start:%Y-%m-%dT%H:%M:%S%z}",
    "data_interval_end": "{interval_end:%Y-%m-%dT%H:%M:%S%z}",
    "run_id": "{run_id}",
    "dag.dag_id": "{job}",
    "task.task_id": "{step}",
}
_JINJA: Final = re.compile(r"\{\{\s*(.*?)\s*\}\}|\{%.*?%\}", re.DOTALL)
WHEN: Final = {"all_done": "always", "one_failed": "on_failure"}


def load_airflow(text: str, file: str, zone: str) -> Loaded:
    """The DAGs of a file. Nothing of it is run."""
    tree = parsed(text, file)
    reader = Reader(tree)
    dags = list(dags_of(tree, reader))
    dropped = [] if dags else [Dropped(file, 0, "no DAG that can be read without running the file")]
    return Loaded([_job(dag, file, zone) for dag in dags], dropped)


def _job(dag: Dag, file: str, zone: str) -> OldJob:
    given = dag.arguments
    defaults = given.get("default_args")
    defaults = defaults if isinstance(defaults, dict) else {}
    start = given.get("start_date", defaults.get("start_date"))
    if isinstance(start, datetime):
        zone = getattr(start.tzinfo, "key", "UTC")  # a start without a zone is in UTC
    remarks = list[Remark]()
    job: dict[str, Any] = {"description": str(given.get("description") or f"Airflow DAG {dag.id}")}
    rule: OldRule | None = None
    try:
        rule, job["schedule"] = _schedule(
            given.get("schedule", given.get("schedule_interval", timedelta(days=1))), zone
        )
        remarks.append(
            Remark(
                "interval",
                "changed",
                "a DAG with a cron schedule runs at the end of its data interval: {{ ds }} is the time before, here {interval_start}",
            )
        )
    except ImportProblem as problem:
        remarks.append(Remark("schedule", "question", str(problem)))
        job["schedule"] = {"every": "1d"}
    job |= {"timezone": zone, "dst": LITERAL, **_policies(given, defaults, remarks)}
    job["steps"] = list(_steps(dag, defaults, remarks))
    if not job["steps"]:
        remarks.append(Remark("tasks", "question", "it has no task that can be read without running the file"))
        job["steps"] = [{"name": "run", "command": ["./" + dag.id]}]
    return OldJob(file, dag.line, dag.id, f"DAG {dag.id}", [dag.id], job, rule, _stated(given, defaults), remarks)


def _schedule(value: Any, zone: str) -> tuple[OldRule, Any]:
    if isinstance(value, str) and (value in PRESETS or not value.startswith("@")):
        return fields.airflow(value, zone), value
    if isinstance(value, timedelta):
        every = whole_seconds(value, "the interval")
        return GridRule(every), {"every": format_duration(every)}
    if (
        isinstance(value, Call)
        and value.function in {"CronTriggerTimetable", "CronDataIntervalTimetable"}
        and value.args
        and isinstance(value.args[0], str)
    ):
        zone = value.kwargs.get("timezone", zone) if isinstance(value.kwargs.get("timezone"), str) else zone
        return fields.airflow(value.args[0], zone), value.args[0]
    shown = value.text if isinstance(value, Unknown) else value.function if isinstance(value, Call) else repr(value)
    raise ImportProblem(f"schedule={shown} is no cron expression or interval: when does it run?")


def _policies(given: Mapping[str, Any], defaults: Mapping[str, Any], remarks: list[Remark]) -> dict[str, Any]:
    one = given.get("max_active_runs") == 1
    made: dict[str, Any] = {"overlap": "buffer_all" if one else "allow_all"}
    if given.get("catchup") is False:
        made["catchup"] = {"policy": "skip"}
    else:
        made["catchup"] = {"policy": "run_all", "max_missed": 100}
        remarks.append(
            Remark(
                "catchup",
                "changed",
                "catchup runs every interval since start_date; here the newest 100 that an outage kept from running",
            )
        )
    if isinstance(limit := given.get("dagrun_timeout"), timedelta):
        made["deadline"] = format_duration(limit)
    if retry := _retry(defaults):
        made["retry"] = retry
    return made


def _retry(given: Mapping[str, Any]) -> dict[str, Any]:
    retries, delay = given.get("retries"), given.get("retry_delay", timedelta(minutes=5))
    if not isinstance(retries, int) or retries < 1:
        return {}
    made: dict[str, Any] = {
        "max_attempts": retries + 1,
        "backoff": "exponential" if given.get("retry_exponential_backoff") is True else "fixed",
    }
    if isinstance(delay, timedelta):
        made |= {"initial": format_duration(delay), "max": format_duration(max(delay, timedelta(minutes=5)))}
    return made


def _steps(dag: Dag, defaults: Mapping[str, Any], remarks: list[Remark]) -> Iterator[dict[str, Any]]:
    names = {variable: _step_name(identifier) for variable, (identifier, _) in dag.tasks.items()}
    linear = all(dag.after.get(now, set()) == {before} for before, now in pairwise(dag.tasks))
    for variable, (identifier, call) in dag.tasks.items():
        step = _step(identifier, call, defaults, remarks)
        needs = sorted(names[each] for each in dag.after.get(variable, ()) if each in names)
        yield step | ({"needs": needs} if needs and not linear else {})


def _step(identifier: str, call: Call, defaults: Mapping[str, Any], remarks: list[Remark]) -> dict[str, Any]:
    """One task without its place in the order."""
    step: dict[str, Any] = {"name": _step_name(identifier)}
    if call.function == "BashOperator" and isinstance(call.kwargs.get("bash_command"), str):
        step["command"] = {"argv": ["/bin/bash", "-c", _rendered(call.kwargs["bash_command"], identifier, remarks)]}
    else:
        what = f"task {identifier}: a {call.function} has no step of its own: which command, http call or function does it?"
        remarks.append(Remark("operator", "question", what))
        step["command"] = ["./" + identifier]
    if isinstance(limit := call.kwargs.get("execution_timeout"), timedelta):
        step["timeout"] = format_duration(limit)
    if {"retries", "retry_delay"} & set(call.kwargs) and (retry := _retry({**defaults, **call.kwargs})):
        step["retry"] = retry
    rule = call.kwargs.get("trigger_rule", "all_success")
    if rule in WHEN:
        step["when"] = WHEN[rule]
    elif rule != "all_success":
        remarks.append(Remark("trigger-rule", "question", f"task {identifier}: trigger_rule {rule} has no word here"))
    remarks.extend(
        Remark(key.replace("_", "-"), "changed", f"task {identifier}: {key} is not carried over")
        for key in ("pool", "priority_weight", "depends_on_past")
        if call.kwargs.get(key) or defaults.get(key)
    )
    return step


def _step_name(identifier: str) -> str:
    return re.sub(r"[^A-Za-z0-9_-]", "-", identifier)


def _rendered(text: str, identifier: str, remarks: list[Remark]) -> str:
    """Airflow's names as ours; other Jinja is a question and stays as text."""
    found, end = list[str](), 0
    said = False
    for match in _JINJA.finditer(text):
        found.append(_escaped(text[end : match.start()]))
        end = match.end()
        template = TEMPLATES.get(match[1] or "")
        if template is None:
            xcom = "xcom" in match[0]
            what = (
                "what another task returned: print it as a JSON line and use {steps.NAME.output.KEY}"
                if xcom
                else "no template here means the same"
            )
            remarks.append(Remark("xcom" if xcom else "jinja", "question", f"task {identifier}: {match[0]}: {what}"))
            found.append(_escaped(match[0]))
        else:
            found.append(template)
            said = True
    if said:
        remarks.append(
            Remark(
                "jinja",
                "changed",
                f"task {identifier}: Airflow's names became our templates; they are in the job's zone, and Airflow's in UTC",
            )
        )
    return "".join([*found, _escaped(text[end:])])


def _escaped(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")


def _stated(given: Mapping[str, Any], defaults: Mapping[str, Any]) -> tuple[Policy, ...]:
    one = given.get("max_active_runs") == 1
    retries = defaults.get("retries", 0)
    return (
        Policy(
            "overlap",
            "max_active_runs: 1: the next run waits"
            if one
            else f"up to {given.get('max_active_runs', 16)} runs at a time",
            f"overlap: {'buffer_all' if one else 'allow_all'}",
        ),
        Policy(
            "missed runs",
            "catchup=False: missed intervals do not run"
            if given.get("catchup") is False
            else "every missed interval runs",
            "catchup: skip" if given.get("catchup") is False else "catchup: run_all, the newest 100",
        ),
        Policy("retries", f"{retries} retries", f"{int(retries) + 1 if isinstance(retries, int) else 1} attempts"),
        Policy(
            "timeout",
            "dagrun_timeout, execution_timeout",
            "deadline of the job, timeout of a step, or the timeout that you gave",
        ),
        Policy("notices", "on_failure_callback, email_on_failure", "none, until you add `on_failure`"),
    )
