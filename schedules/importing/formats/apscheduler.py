"""APScheduler 3: `add_job(…)` and `@scheduler.scheduled_job(…)` with cron, interval and date triggers, read from the syntax tree.

Weekdays count from Monday = 0, in `from_crontab` too; fields below the most significant one given are their minimum (seen with 3.11.3).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, time, timedelta
from typing import Any, Final
from zoneinfo import ZoneInfo

from activities.occurrence import stamp
from schedules.importing.formats.apscheduler_fields import FIELDS, completed, cron_rule, from_crontab
from schedules.importing.formats.python_source import Call, Reader, Unknown, dotted, parsed, plain
from schedules.importing.old_job import Dropped, Loaded, OldJob, Policy, Remark
from schedules.importing.problem import ImportProblem
from schedules.importing.rules import GridRule, OldRule, OnceRule, WallRule
from schedules.text.duration import format_duration

SHIFT: Final = {"gap": "shift", "repeat": "both"}
UNITS: Final = {"weeks": 604_800, "days": 86_400, "hours": 3_600, "minutes": 60, "seconds": 1}
FIRST_HOUR: Final = time(1)
_MIDNIGHT: Final = Remark(
    "first-hour",
    "changed",
    "once the clocks have gone forward, APScheduler 3.11 leaves out the next time between 00:00 and 01:00; here it runs",
)
POLICIES: Final = (
    Policy("retries", "none", "none, until you add `retry`"),
    Policy("timeout", "none: a run may hang for ever", "the timeout that you gave"),
    Policy("notices", "none", "none, until you add `on_failure`"),
)


def load_apscheduler(text: str, file: str, zone: str) -> Loaded:
    """The jobs that the file adds to a scheduler. Nothing of it is run."""
    tree = parsed(text, file)
    reader = Reader(tree)
    zone = _scheduler_zone(tree, reader) or zone
    jobs = [_job(file, line, function, call, zone) for line, function, call in _added(tree, reader)]
    dropped = (
        []
        if jobs
        else [Dropped(file, 0, "no add_job(…) or scheduled_job(…) that can be read without running the file")]
    )
    return Loaded(jobs, dropped)


def _scheduler_zone(tree: ast.Module, reader: Reader) -> str | None:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and dotted(node.func).endswith("Scheduler"):
            made = reader.call(node)
            return _zone_name(made.kwargs.get("timezone"))
    return None


def _zone_name(value: Any) -> str | None:
    return value if isinstance(value, str) else getattr(value, "key", None)


def _added(tree: ast.Module, reader: Reader) -> Iterator[tuple[int, str, Call]]:
    """Line, function and arguments of each job; the trigger is the first argument that is left."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and dotted(node.func).endswith("add_job"):
            made = reader.call(node)
            function = (
                ast.unparse(node.args[0])
                if node.args
                else next((ast.unparse(each.value) for each in node.keywords if each.arg == "func"), "")
            )
            yield node.lineno, function.strip("'\"").replace(":", "."), Call("add_job", made.args[1:], made.kwargs)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            for decorator in node.decorator_list:
                if isinstance(decorator, ast.Call) and dotted(decorator.func).endswith("scheduled_job"):
                    yield decorator.lineno, node.name, reader.call(decorator)


def _of_rule(rule: OldRule, zone: str) -> Iterator[Remark]:
    """What APScheduler does with such a rule, and nobody would expect here."""
    if isinstance(rule, GridRule):
        yield Remark(
            "phase",
            "changed",
            "its interval counts from when the scheduler starts; here it counts from midnight UTC on",
        )
    if isinstance(rule, WallRule) and rule.clock[0] < FIRST_HOUR and _has_clock_changes(zone):
        yield _MIDNIGHT


def _has_clock_changes(zone: str) -> bool:
    try:
        summer, winter = (datetime(2027, month, 1, tzinfo=ZoneInfo(zone)).utcoffset() for month in (7, 1))
    except (ValueError, LookupError):  # no such zone, which is asked about elsewhere
        return False
    return summer != winter


def _job(file: str, line: int, function: str, call: Call, zone: str) -> OldJob:
    given = dict(call.kwargs)
    trigger = call.args[0] if call.args else given.get("trigger")
    name = str(given.get("id") or given.get("name") or function)
    remarks = [
        Remark(
            "task-code",
            "changed",
            f"the function {function} runs inside the scheduler's process; here it is registered as @handler({function!r})",
        )
    ]
    job: dict[str, Any] = {"description": str(given.get("name") or name)}
    rule: OldRule | None = None
    try:
        rule, schedule, zone = _trigger(trigger, given, zone)
        job["schedule"] = schedule
        remarks.extend(_of_rule(rule, zone))
    except ImportProblem as problem:
        remarks.append(Remark("schedule", "question", str(problem)))
        job["schedule"] = {"every": "1d"}
    job |= {"timezone": zone, "dst": SHIFT, **_policies(given, remarks)}
    params = {
        key: list(value) if isinstance(value, tuple) else value
        for key in ("args", "kwargs")
        if (value := given.get(key))
    }
    if not plain(params):
        remarks.append(
            Remark("arguments", "question", "its arguments cannot be read without running the file: what are they?")
        )
        params = {}
    job["run"] = {"python": {"handler": function, "params": params}}
    return OldJob(file, line, name, f"{function}: {_shown(trigger, given)}", [name], job, rule, _stated(given), remarks)


def _shown(trigger: Any, given: Mapping[str, Any]) -> str:
    if isinstance(trigger, Call):
        return f"{trigger.function}{trigger.args or ''} {dict(trigger.kwargs) or ''}".strip()
    words = [f"{key}={value!r}" for key, value in given.items() if key in {*FIELDS, *UNITS, "run_date"}]
    return " ".join([str(trigger.text if isinstance(trigger, Unknown) else trigger), *words])


def _trigger(trigger: Any, given: Mapping[str, Any], zone: str) -> tuple[OldRule, Any, str]:
    """Rule, entry of the spec and zone. Raises ImportProblem."""
    if isinstance(trigger, Call):
        kind = trigger.function
        zone = _zone_name(trigger.kwargs.get("timezone")) or zone
        if kind == "from_crontab" and trigger.args and isinstance(trigger.args[0], str):
            return *cron_rule(from_crontab(trigger.args[0]), zone), zone
        given = trigger.kwargs
        kind = {"CronTrigger": "cron", "IntervalTrigger": "interval", "DateTrigger": "date"}.get(kind, kind)
    else:
        kind = str(trigger)
        zone = _zone_name(given.get("timezone")) or zone
    if given.get("start_date") or given.get("end_date"):
        raise ImportProblem("start_date and end_date bound its times: when should it begin and end?")
    if kind == "cron":
        return *cron_rule(completed(given), zone), zone
    if kind == "interval":
        seconds = sum(given[unit] * size for unit, size in UNITS.items() if isinstance(given.get(unit), int | float))
        every = timedelta(seconds=seconds)
        if every < timedelta(seconds=1) or every.microseconds:
            raise ImportProblem(f"its interval is {seconds:g} s, and Temporal's schedules count whole seconds")
        return GridRule(every), {"every": format_duration(every)}, zone
    if kind == "date":
        at = _date(given.get("run_date"), zone)
        return OnceRule(at), {"at": stamp(at)}, zone
    shown = (
        trigger.text
        if isinstance(trigger, Unknown)
        else trigger.function
        if isinstance(trigger, Call)
        else repr(trigger)
    )
    raise ImportProblem(f"trigger {shown} cannot be read without running the file: when does it run?")


def _date(value: Any, zone: str) -> datetime:
    try:
        at = datetime.fromisoformat(value) if isinstance(value, str) else value
        return (at if at.tzinfo else at.replace(tzinfo=ZoneInfo(zone))).astimezone(UTC).replace(microsecond=0)
    except (AttributeError, ValueError):
        raise ImportProblem("its run_date cannot be read without running the file") from None


def _policies(given: Mapping[str, Any], remarks: list[Remark]) -> dict[str, Any]:
    several = given.get("max_instances", 1) != 1
    latest = given.get("coalesce", True) is not False or not several
    made: dict[str, Any] = {"overlap": "allow_all" if several else "skip"}
    made["catchup"] = {"policy": "run_latest"} if latest else {"policy": "run_all", "max_missed": 100}
    grace = given.get("misfire_grace_time", 1)
    if "misfire_grace_time" in given and isinstance(grace, int) and grace > 0:
        made["start_deadline"] = format_duration(timedelta(seconds=grace))
    elif "misfire_grace_time" not in given:
        remarks.append(
            Remark(
                "misfire",
                "changed",
                "a run that is more than a second late is dropped (misfire_grace_time); here it runs late: say otherwise by `start_deadline`",
            )
        )
    if isinstance(jitter := given.get("jitter"), int) and jitter > 0:
        made["jitter"] = format_duration(timedelta(seconds=jitter))
        remarks.append(
            Remark(
                "jitter",
                "changed",
                "jitter moves a run to either side of its time, at random; here it starts later, by the same amount each time",
            )
        )
    return made


def _stated(given: Mapping[str, Any]) -> tuple[Policy, ...]:
    several = given.get("max_instances", 1) != 1
    return (
        Policy(
            "overlap",
            f"max_instances: {given.get('max_instances', 1)}",
            f"overlap: {'allow_all' if several else 'skip'}",
        ),
        Policy(
            "missed runs",
            "coalesce: one for all" if given.get("coalesce", True) is not False else "each within its grace",
            "catchup: run_latest",
        ),
        *POLICIES,
    )
