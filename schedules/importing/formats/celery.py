"""Celery beat: `beat_schedule` in a settings file, read as text.

Beat's crontab needs both day fields (seen with Celery 5.7.0); its intervals count from beat's own start.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Final

from schedules.importing import fields
from schedules.importing.formats.python_source import Call, Reader, Unknown, dotted, parsed, plain, whole_seconds
from schedules.importing.old_job import Dropped, Loaded, OldJob, Policy, Remark
from schedules.importing.problem import ImportProblem
from schedules.importing.rules import GridRule, OldRule
from schedules.text.duration import format_duration
from schedules.text.literal import literal

FIELDS: Final = ("minute", "hour", "day_of_week", "day_of_month", "month_of_year")
LITERAL: Final = {"gap": "skip", "repeat": "both"}
_SCHEDULE_NAMES: Final = frozenset({"CELERY_BEAT_SCHEDULE", "CELERYBEAT_SCHEDULE", "beat_schedule"})
_ZONE_NAMES: Final = frozenset({"CELERY_TIMEZONE", "timezone", "TIME_ZONE"})
POLICIES: Final = (
    Policy("overlap", "a task is sent while the one before still runs", "overlap: allow_all"),
    Policy(
        "missed runs", "beat sends a task that came due while it was away once, when it is back", "catchup: run_latest"
    ),
    Policy("retries", "the task's own", "none, until you add `retry`"),
    Policy("timeout", "the worker's task_time_limit", "the timeout that you gave"),
    Policy("notices", "none", "none, until you add `on_failure`"),
)
TASK_CODE: Final = (
    "the task {task} is code of a Celery worker; here a function registered as @handler({task!r}) has to do it"
)


def load_celery(text: str, file: str, zone: str) -> Loaded:
    """The jobs of a Python settings file. Nothing of it is run."""
    tree = parsed(text, file)
    reader = Reader(tree)
    zone, schedules, line = _settings(tree, reader, zone)
    jobs, dropped = list[OldJob](), list[Dropped]()
    for name, entry in schedules.items():
        if not isinstance(entry, dict) or not isinstance(entry.get("task"), str):
            dropped.append(Dropped(file, line, f"{name}: no entry that can be read without running the file"))
            continue
        jobs.append(_job(file, str(name), entry, zone))
    if not schedules:
        dropped.append(Dropped(file, 0, "no beat_schedule that can be read without running the file"))
    return Loaded(jobs, dropped)


def _settings(tree: ast.Module, reader: Reader, zone: str) -> tuple[str, dict[Any, Any], int]:
    """The zone, the entries, and the line of the entries, from assignments and `app.conf.update(…)`."""
    entries: dict[Any, Any] = {}
    line = 0
    for node in ast.walk(tree):
        given: dict[str, ast.expr] = {}
        if isinstance(node, ast.Assign):
            given = {dotted(target).rpartition(".")[2]: node.value for target in node.targets}
        elif isinstance(node, ast.Call) and dotted(node.func).endswith("conf.update"):
            given = {each.arg: each.value for each in node.keywords if each.arg}
        for name, expression in given.items():
            value = reader.value(expression)
            if name in _SCHEDULE_NAMES and isinstance(value, dict):
                entries, line = entries | value, expression.lineno
            elif name in _ZONE_NAMES and isinstance(value, str):
                zone = value
    return zone, entries, line


def _job(file: str, name: str, entry: Mapping[str, Any], zone: str) -> OldJob:
    options = entry.get("options")
    options = options if isinstance(options, dict) else {}
    remarks = [Remark("task-code", "changed", TASK_CODE.format(task=entry["task"]))]
    job: dict[str, Any] = {"description": name}
    rule: OldRule | None = None
    try:
        rule, schedule = _schedule(entry.get("schedule"), zone)
        job |= {"schedule": schedule}
        if isinstance(rule, GridRule):
            remarks.append(PHASE)
    except ImportProblem as problem:
        remarks.append(Remark("schedule", "question", str(problem)))
        job["schedule"] = {"every": "1d"}
    job |= {"timezone": zone, "dst": LITERAL, "overlap": "allow_all", "catchup": {"policy": "run_latest"}}
    job |= options_of(options.get("queue"), options.get("expires"), remarks)
    job["run"] = {
        "python": {"handler": entry["task"], "params": params_of(entry.get("args"), entry.get("kwargs"), remarks)}
    }
    return OldJob(
        file,
        0,
        name,
        f"{name}: {entry['task']}, {_shown(entry.get('schedule'))}",
        naming_of(name, entry["task"]),
        job,
        rule,
        POLICIES,
        remarks,
    )


PHASE = Remark(
    "phase",
    "changed",
    "its interval counts from beat's own start; here it counts from midnight UTC on, so it runs at other moments",
)


def naming_of(name: str, task: str) -> list[str]:
    """The words of the new name; a name with letters that ASCII lacks gives way to that of the task."""
    return [name] if name.isascii() else [task.rpartition(".")[2]]


def _shown(schedule: Any) -> str:
    if isinstance(schedule, Call):
        words = [*map(repr, schedule.args), *(f"{key}={value!r}" for key, value in schedule.kwargs.items())]
        return f"{schedule.function}({', '.join(words)})"
    return str(schedule.text if isinstance(schedule, Unknown) else schedule)


def _schedule(value: Any, zone: str) -> tuple[OldRule, Any]:
    """The old meaning, and the entry of the spec. Raises ImportProblem."""
    if isinstance(value, Call) and value.function == "crontab":
        given = dict(zip(FIELDS, value.args, strict=False)) | dict(value.kwargs)
        if unknown := set(given) - set(FIELDS):
            raise ImportProblem(f"crontab with {', '.join(sorted(unknown))}")
        return crontab_rule({key: crontab_field(each) for key, each in given.items()}, zone)
    if isinstance(value, Call) and value.function == "solar":
        raise ImportProblem("solar: sunrise and sunset are on no calendar: at which times should it run?")
    if isinstance(value, Call) and value.function == "schedule":
        value = value.kwargs.get("run_every", value.args[0] if value.args else None)
    if isinstance(value, Call | Unknown):
        raise ImportProblem(f"{_shown(value)} cannot be read without running the file: when does it run?")
    every = whole_seconds(value, "the interval")
    return GridRule(every), {"every": format_duration(every)}


def crontab_field(value: Any) -> str:
    """A field of crontab as text. Raises ImportProblem."""
    if isinstance(value, list | tuple | set):
        return ",".join(map(str, value))
    if isinstance(value, str | int) and not isinstance(value, bool):
        return str(value).replace(" ", "")
    raise ImportProblem("a field of crontab that cannot be read without running the file")


def crontab_rule(given: Mapping[str, str], zone: str) -> tuple[OldRule, Any]:
    """Rule and entry of a crontab; fields that are left out are `*`."""
    minute, hour, weekday, day, month = (given.get(key) or "*" for key in FIELDS)
    rule = fields.celery(minute, hour, day, month, weekday, zone)
    return rule, {"cron": f"{minute} {hour} {day} {month} {weekday}", "dialect": "celery"}


def options_of(queue: Any, expires: Any, remarks: list[Remark]) -> dict[str, Any]:
    """Task queue and start deadline from the options of a task."""
    made: dict[str, Any] = {}
    if isinstance(queue, str) and queue:
        made["task_queue"] = queue
    if isinstance(expires, int | float | timedelta) and not isinstance(expires, bool):
        try:
            made["start_deadline"] = format_duration(whole_seconds(expires, "expires"))
        except ImportProblem as problem:
            remarks.append(Remark("expires", "changed", f"{problem}: left out"))
    elif expires is not None:
        remarks.append(Remark("expires", "changed", "an expiry at a fixed time has no word here and was left out"))
    return made


def params_of(args: Any, kwargs: Any, remarks: list[Remark]) -> dict[str, Any]:
    """The arguments of a task as params of a `python` step."""
    made: dict[str, Any] = {}
    for key, value in (("args", args), ("kwargs", kwargs)):
        if value and plain(value):
            made[key] = literal(list(value) if isinstance(value, tuple) else value)
        elif value:
            remarks.append(
                Remark("arguments", "question", f"its {key} cannot be read without running the file: what are they?")
            )
    return made
