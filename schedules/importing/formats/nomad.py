"""Nomad: periodic jobs as `nomad job inspect` prints them (JSON). Several of them may stand in one list."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial
from typing import Any, Final

from schedules.importing.old_job import Dropped, Loaded, OldJob, Policy, Remark
from schedules.importing.plain_star import cronexpr
from schedules.importing.problem import ImportProblem, SourceError
from schedules.importing.rules import UnionRule
from schedules.importing.shape import Reading, loaded
from schedules.text.literal import literal

LITERAL: Final = {"gap": "skip", "repeat": "both"}
CLOCK_CHANGE: Final = (
    "Nomad's cronexpr has rules of its own for days on which clocks change; here a time that does not exist does not run, and one that "
    "happens twice runs twice"
)
DRIVERS: Final = frozenset({"exec", "raw_exec"})


def load_nomad(text: str, file: str) -> Loaded:
    """The periodic jobs of the file. Raises SourceError for what is not JSON, such as a job file in HCL."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        raise SourceError(f"{file}: not JSON; give what `nomad job inspect NAME` prints") from None
    readings, dropped = list[Reading](), list[Dropped]()
    for each in data if isinstance(data, list) else [data]:
        given = each.get("Job", each) if isinstance(each, dict) else None
        if not isinstance(given, dict) or "ID" not in given:
            raise SourceError(f"{file}: not what `nomad job inspect NAME` prints")
        periodic = given.get("Periodic")
        if isinstance(periodic, dict) and periodic.get("SpecType", "cron") == "cron":
            readings.append((str(given["ID"]), partial(_job, file, given, periodic)))
        else:
            dropped.append(Dropped(file, 0, f"{given['ID']}: it is not periodic", no_job=True))
    return loaded(file, readings, dropped)


def _job(file: str, given: Mapping[str, Any], periodic: Mapping[str, Any]) -> OldJob:
    name, zone = str(given["ID"]), str(periodic.get("TimeZone") or "UTC")
    crons = [str(each) for each in (periodic.get("Specs") or [periodic.get("Spec")]) if each]
    remarks, rule, entries = list[Remark](), None, ["@daily"]
    try:
        read = [cronexpr(each, zone) for each in crons]
        rule, entries = UnionRule(tuple(each for each, _ in read)), [entry for _, entry in read] or entries
    except ImportProblem as problem:
        remarks.append(Remark("schedule", "question", str(problem)))
    job: dict[str, Any] = {
        "description": f"Nomad job {name}",
        "schedule": entries,
        "timezone": zone,
        "dst": LITERAL,
        "overlap": "skip" if periodic.get("ProhibitOverlap") else "allow_all",
        "catchup": {"policy": "run_latest"},
    }
    if periodic.get("Enabled") is False or given.get("Stop") is True:
        job["paused"] = True
    job["run"] = _run(given, remarks)
    if zone != "UTC":
        remarks.append(Remark("clock-change", "changed", CLOCK_CHANGE))
    return OldJob(file, 0, name, f"{name}: {', '.join(crons)}", [name], job, rule, _policies(periodic), remarks)


def _run(given: Mapping[str, Any], remarks: list[Remark]) -> dict[str, Any]:
    tasks = [
        task
        for group in given.get("TaskGroups") or ()
        if isinstance(group, dict)
        for task in group.get("Tasks") or ()
        if isinstance(task, dict)
    ]
    task = tasks[0] if tasks else {}
    if len(tasks) != 1:
        remarks.append(Remark("tasks", "question", f"it has {len(tasks)} tasks: which steps are they here?"))
    driver = str(task.get("Driver"))
    if driver not in DRIVERS:
        remarks.append(
            Remark("driver", "question", f"its driver is {driver}: which workers run what it runs, and how?")
        )
    config = task.get("Config")
    config = config if isinstance(config, dict) else {}
    words = [str(word) for word in (config.get("command"), *(config.get("args") or ())) if word is not None]
    env = {str(key): literal(str(value)) for key, value in (task.get("Env") or {}).items()}
    if any("${" in word for word in words):
        remarks.append(
            Remark("interpolation", "question", "`${…}` in its arguments is Nomad's: what stands there on a worker?")
        )
    return {"command": {"argv": literal(words) or ["true"], **({"env": env} if env else {})}}


def _policies(periodic: Mapping[str, Any]) -> tuple[Policy, ...]:
    return (
        Policy(
            "overlap",
            "no start while one runs" if periodic.get("ProhibitOverlap") else "runs side by side",
            "overlap: skip" if periodic.get("ProhibitOverlap") else "overlap: allow_all",
        ),
        Policy("missed runs", "one, when a leader is there again", "catchup: run_latest"),
        Policy("retries", "the restart and reschedule stanzas", "none, until you add `retry`"),
        Policy("timeout", "none", "the timeout that you gave for an attempt"),
        Policy("who is told", "nobody", "nobody, until you add `on_failure`"),
    )
