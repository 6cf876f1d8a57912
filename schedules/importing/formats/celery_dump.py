"""Celery beat's tables: `manage.py dumpdata django_celery_beat` as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, Final

from activities.occurrence import stamp
from schedules.importing.formats.celery import (
    FIELDS,
    LITERAL,
    PHASE,
    POLICIES,
    TASK_CODE,
    crontab_field,
    crontab_rule,
    naming_of,
    options_of,
    params_of,
)
from schedules.importing.formats.python_source import Unknown, whole_seconds
from schedules.importing.old_job import Loaded, OldJob, Remark
from schedules.importing.problem import ImportProblem, SourceError
from schedules.importing.rules import GridRule, OldRule, OnceRule
from schedules.importing.shape import loaded
from schedules.text.duration import format_duration

PERIODS: Final = {"seconds": 1, "minutes": 60, "hours": 3_600, "days": 86_400}


def load_celery_dump(text: str, file: str, zone: str) -> Loaded:
    """The jobs of a JSON dump of django-celery-beat. Raises SourceError where it is none."""
    try:
        rows = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise SourceError(f"{file}: not JSON: {error}") from None
    if not isinstance(rows, list) or not all(
        isinstance(row, dict) and isinstance(row.get("fields"), dict) for row in rows
    ):
        raise SourceError(
            f"{file}: not a dump of Django models: a list of rows with `model`, `pk` and `fields` was expected"
        )
    tables: dict[str, dict[Any, Mapping[str, Any]]] = {}
    for row in rows:
        tables.setdefault(str(row.get("model")).rpartition(".")[2], {})[str(row.get("pk"))] = row["fields"]
    tasks = tables.get("periodictask", {}).values()
    return loaded(file, ((str(row.get("name")), partial(_dumped, file, row, tables, zone)) for row in tasks))


def _dumped(
    file: str, row: Mapping[str, Any], tables: Mapping[str, Mapping[Any, Mapping[str, Any]]], zone: str
) -> OldJob:
    name, task = str(row.get("name")), str(row.get("task"))
    remarks = [Remark("task-code", "changed", TASK_CODE.format(task=task)), *_dump_remarks(row)]
    job: dict[str, Any] = {"description": str(row.get("description") or name)}
    if job["description"] != name:
        job["description"] += f" ({name})"
    rule: OldRule | None = None
    try:
        rule, schedule, zone = _dumped_schedule(row, tables, zone)
        job["schedule"] = schedule
        if isinstance(rule, GridRule):
            remarks.append(PHASE)
    except ImportProblem as problem:
        identifier = "solar" if row.get("solar") is not None else "schedule"
        remarks.append(Remark(identifier, "question", str(problem)))
        job["schedule"] = {"every": "1d"}
    job |= {"timezone": zone, "dst": LITERAL, "overlap": "allow_all", "catchup": {"policy": "run_latest"}}
    job |= options_of(row.get("queue"), row.get("expire_seconds"), remarks)
    if row.get("enabled") is False:
        job["paused"] = True
    job["run"] = {"python": {"handler": task, "params": params_of(_json(row, "args"), _json(row, "kwargs"), remarks)}}
    return OldJob(file, 0, name, f"{name}: {task}", naming_of(name, task), job, rule, POLICIES, remarks)


def _dump_remarks(row: Mapping[str, Any]) -> Iterator[Remark]:
    if not str(row.get("name")).isascii():
        yield Remark("name", "changed", "a job's name is ASCII: the old one is kept in the description")
    if row.get("start_time"):
        yield Remark(
            "start-time", "changed", f"start_time {row['start_time']} is not carried over: sync when it should begin"
        )
    if row.get("expires"):
        yield Remark("expires", "changed", "an expiry at a fixed time has no word here and was left out")


def _json(row: Mapping[str, Any], key: str) -> Any:
    try:
        return json.loads(row.get(key) or "null")
    except (TypeError, ValueError):
        return Unknown(str(row.get(key)))


def _dumped_schedule(
    row: Mapping[str, Any], tables: Mapping[str, Mapping[Any, Mapping[str, Any]]], zone: str
) -> tuple[OldRule, Any, str]:
    for kind in ("crontab", "interval", "clocked", "solar"):
        if row.get(kind) is None:
            continue
        found = tables.get(f"{kind}schedule", {}).get(str(row[kind]))
        if found is None:
            raise ImportProblem(f"its {kind} schedule {row[kind]} is not in the dump")
        if kind == "crontab":
            zone = str(found.get("timezone") or zone)
            return *crontab_rule({key: crontab_field(found.get(key, "*")) for key in FIELDS}, zone), zone
        if kind == "interval":
            every = timedelta(seconds=int(found.get("every", 0)) * PERIODS.get(str(found.get("period")), 0))
            whole_seconds(every, "the interval")
            return GridRule(every), {"every": format_duration(every)}, zone
        if kind == "clocked":
            at = _instant(str(found.get("clocked_time")))
            return OnceRule(at), {"at": stamp(at)}, zone
        raise ImportProblem(
            f"{found.get('event', 'solar')}: sunrise and sunset are on no calendar: at which times should it run?"
        )
    raise ImportProblem("it has no schedule")


def _instant(text: str) -> datetime:
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        raise ImportProblem(f"`{text}` is no time") from None
    return (at if at.tzinfo else at.replace(tzinfo=UTC)).astimezone(UTC).replace(microsecond=0)
