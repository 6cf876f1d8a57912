"""Ruby's sidekiq-cron (a YAML mapping or list of jobs with `cron` and `class`) and solid_queue (`recurring.yml`, with `schedule`).

Both read expressions by fugit: cron with five fields and a zone behind them, or words such as `every 5 minutes`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, Final, Literal
from zoneinfo import ZoneInfo

import yaml

from schedules.importing.formats.manifests import parsed
from schedules.importing.old_job import Dropped, Loaded, OldJob, Policy, Remark
from schedules.importing.plain_star import fugit
from schedules.importing.problem import ImportProblem, SourceError
from schedules.importing.rules import OldRule
from schedules.importing.shape import Reading, loaded
from schedules.text.literal import literal

Enqueue = Literal["perform_async", "perform_later"]
LITERAL: Final = {"gap": "skip", "repeat": "both"}
ENVIRONMENTS: Final = ("production", "staging", "development", "test")
UNITS: Final = {"minute": (60, "hour", "*/{} * * * *", "0 * * * *"), "hour": (24, "day", "0 */{} * * *", "0 0 * * *")}
"""How many of them make which whole, and the expressions for every so many and for the whole."""
POLICIES: Final = (
    Policy("overlap", "a job is put into its queue while the one before still runs", "the same (overlap: allow_all)"),
    Policy("missed runs", "none, but for a short while after a restart", "catchup: skip"),
    Policy("retries", "those of the job's class", "the same; none of putting it into the queue"),
    Policy("timeout", "none", "the timeout that you gave, of putting it into the queue"),
    Policy("who is told", "nobody", "nobody, until you add `on_failure`"),
)
CODE: Final = (
    "`bin/rails runner` on a worker that has your application puts it into its queue, as before; a run here ends when it is there, "
    "and says nothing of what becomes of it"
)
_EVERY: Final = re.compile(r"(?:every )?(?:(\d+) )?(minute|hour)s?")
_HOURLY: Final = re.compile(r"every hour at minute (\d\d?)")
_DAILY: Final = re.compile(r"(?:every )?day at (\d{1,2})(?::(\d\d))? ?(am|pm)?")


def load_ruby(text: str, file: str, zone: str, enqueue: Enqueue) -> Loaded:
    """The jobs of the file; of a `recurring.yml` those of its production. Raises SourceError for what is neither of the two.

    `enqueue` is the method by which a class puts its job into its queue.
    """
    try:
        data = parsed(re.sub(r"<%.*?%>", "erb", text))
    except (yaml.YAMLError, ImportProblem, RecursionError) as error:
        raise SourceError(f"{file}: not YAML that can be read: {error}") from None
    readings, dropped = list[Reading](), list[Dropped]()
    for name, entry in _entries(data, file, dropped):
        if isinstance(entry, dict) and (entry.get("class") or entry.get("command")) and _expression(entry):
            readings.append((name, partial(_job, file, name, entry, zone, enqueue)))
        else:
            dropped.append(Dropped(file, 0, f"{name}: no job with a schedule and a class or a command"))
    return loaded(file, readings, dropped)


def _entries(data: Any, file: str, dropped: list[Dropped]) -> Iterator[tuple[str, Any]]:
    if isinstance(data, list):
        yield from ((str(each.get("name")), each) for each in data if isinstance(each, dict))
        return
    if not isinstance(data, dict):
        raise SourceError(f"{file}: neither the schedule of sidekiq-cron nor a recurring.yml of solid_queue")
    named = [key for key in ENVIRONMENTS if isinstance(data.get(key), dict) and not _expression(data[key])]
    dropped.extend(
        Dropped(file, 0, f"environment {key}: the jobs of {named[0]} were taken", no_job=True) for key in named[1:]
    )
    yield from ((str(name), entry) for name, entry in (data[named[0]] if named else data).items())


def _expression(entry: Mapping[str, Any]) -> str:
    return str(entry.get("cron") or entry.get("schedule") or "")


def _job(file: str, name: str, entry: Mapping[str, Any], zone: str, enqueue: Enqueue) -> OldJob:
    expression, remarks = _expression(entry), list[Remark]()
    rule, schedule = None, "@daily"
    try:
        rule, schedule, zone = _schedule(expression, zone)
    except ImportProblem as problem:
        remarks.append(Remark("schedule", "question", str(problem)))
    code = _code(entry, enqueue, remarks)
    remarks.append(Remark("ruby", "changed", CODE))
    job: dict[str, Any] = {
        "description": str(entry.get("description") or name),
        "schedule": schedule,
        "timezone": zone,
        "dst": LITERAL,
        "overlap": "allow_all",
        "catchup": {"policy": "skip"},
    }
    if entry.get("status") == "disabled" or entry.get("enabled") is False:
        job["paused"] = True
    job["run"] = {"command": {"argv": ["bin/rails", "runner", literal(code)]}}
    source = f"{name}: {expression}, {entry.get('class') or entry.get('command')}"
    return OldJob(file, 0, name, source, [name], job, rule, POLICIES, remarks)


def _code(entry: Mapping[str, Any], enqueue: Enqueue, remarks: list[Remark]) -> str:
    """What Rails runs: the command of solid_queue, or the class with arguments that Ruby reads as JSON does."""
    if entry.get("command"):
        return str(entry["command"])
    given = entry.get("args")
    args = given if isinstance(given, list) else [] if given is None else [given]
    if not all(each is None or isinstance(each, str | int | float | bool) for each in args):
        remarks.append(Remark("arguments", "question", "its args are no plain values: how does Ruby write them?"))
        args = []
    queue = entry.get("queue") or entry.get("queue_name")
    chosen = f".set(queue: {_ruby(str(queue))})" if queue else ""
    return f"{entry['class']}{chosen}.{enqueue}({', '.join(map(_ruby, args))})"


def _ruby(value: Any) -> str:
    if isinstance(value, str):
        quoted = value.replace("\\", "\\\\").replace("'", "\\'")
        return f"'{quoted}'"
    return "nil" if value is None else str(value).lower()


def _schedule(text: str, zone: str) -> tuple[OldRule, Any, str]:
    """The old meaning, the entry of the spec, and the zone. Raises ImportProblem."""
    if match := _EVERY.fullmatch(text.strip().lower()):
        count, (limit, whole, stepped, most) = int(match[1] or 1), UNITS[match[2]]
        if limit % count:
            raise ImportProblem(f"`{text}` does not divide its {whole}: at which times does it run?")
        cron = most if count == limit else stepped.format(count)
        return (*fugit(cron, zone), zone)
    if match := _HOURLY.fullmatch(text.strip().lower()):
        return (*fugit(f"{match[1]} * * * *", zone), zone)
    if match := _DAILY.fullmatch(text.strip().lower()):
        hour = int(match[1]) % 12 + (12 if match[3] == "pm" else 0) if match[3] else int(match[1])
        cron = f"{int(match[2] or 0)} {hour} * * *"
        return (*fugit(cron, zone), zone)
    words = text.split()
    if len(words) == 6 and re.fullmatch(r"[A-Z]\w*(/[\w+-]+)*", words[5]):  # noqa: PLR2004  five fields and a zone
        zone = words.pop()
        try:
            ZoneInfo(zone)
        except (ValueError, KeyError, OSError):
            raise ImportProblem(f"`{zone}` is no zone of the tz database") from None
    cron = " ".join(words)
    if len(words) == 6 and not re.search(r"[a-z]", words[0]):  # noqa: PLR2004  seconds first
        raise ImportProblem(f"`{text}` has seconds: write it as {{cron: …, dialect: quartz}} or {{every: …}}")
    if not cron.startswith("@") and (len(words) != 5 or re.search(r"[a-z]", words[0])):  # noqa: PLR2004  five fields
        raise ImportProblem(f"`{text}` is a schedule in words: which cron expression is it?")
    return (*fugit(cron, zone), zone)
