"""App Engine's cron.yaml: `every 24 hours`, `every day 09:00`, `every monday 09:00`, `1st,third mon of mar,sep 17:00`, `1,15 of month 06:30`."""

from __future__ import annotations

import calendar
import re
from collections.abc import Callable, Mapping
from datetime import date, time, timedelta
from functools import partial
from typing import Any, Final

import yaml

from schedules.importing.fields import MONDAY_0, MONTHS
from schedules.importing.formats.manifests import parsed
from schedules.importing.old_job import Dropped, Loaded, OldJob, Policy, Remark
from schedules.importing.problem import ImportProblem, SourceError
from schedules.importing.rules import GridRule, OldRule, WallRule
from schedules.importing.shape import loaded
from schedules.text.duration import format_duration

ORDINALS: Final = {
    "1st": 1,
    "first": 1,
    "2nd": 2,
    "second": 2,
    "3rd": 3,
    "third": 3,
    "4th": 4,
    "fourth": 4,
    "5th": 5,
    "fifth": 5,
}
QUARTERS: Final = {
    "1st month of quarter": "1,4,7,10",
    "2nd month of quarter": "2,5,8,11",
    "3rd month of quarter": "3,6,9,12",
}
UNITS: Final = {"minutes": 60, "mins": 60, "hours": 3_600}
POLICIES: Final = (
    Policy("overlap", "a request starts while the one before is still answered", "overlap: allow_all"),
    Policy("missed runs", "none", "catchup: skip"),
    Policy("retries", "retry_parameters, none by default", "retry.max_attempts: one more than job_retry_limit"),
    Policy("timeout", "that of the service's instance", "the timeout that you gave for an attempt"),
    Policy("who is told", "nobody", "nobody, until you add `on_failure`"),
)
_EVERY: Final = re.compile(r"every (\d+) (minutes|mins|hours)( synchronized)?")
_DAYS: Final = re.compile(r"(?P<days>.+?)(?: of (?P<months>.+))? (?P<hour>\d{1,2}):(?P<minute>\d\d)")


def load_app_engine(text: str, file: str) -> Loaded:
    """The entries of the file; without a zone of their own they are in UTC, as there. Raises SourceError for no cron.yaml."""
    try:
        data = parsed(text)
    except (yaml.YAMLError, ImportProblem, RecursionError) as error:
        raise SourceError(f"{file}: not YAML that can be read: {error}") from None
    entries = data.get("cron") if isinstance(data, dict) else None
    if not isinstance(entries, list):
        raise SourceError(f"{file}: no cron.yaml of App Engine: a list under `cron` was expected")
    good = [each for each in entries if isinstance(each, dict) and each.get("url") and each.get("schedule")]
    dropped = [Dropped(file, 0, f"no entry with url and schedule: {each}") for each in entries if each not in good]
    return loaded(file, ((str(each["url"]), partial(_job, file, each)) for each in good), dropped)


def _job(file: str, entry: Mapping[str, Any]) -> OldJob:
    url, expression, zone = str(entry["url"]), str(entry["schedule"]), str(entry.get("timezone") or "UTC")
    remarks = [
        Remark(
            "target",
            "question",
            f"it calls {url} of the service {entry.get('target', 'default')}: at which address, and with which credentials?",
        )
    ]
    rule, schedule = None, "@daily"
    try:
        rule, schedule = parse_words(expression, zone)
    except ImportProblem as problem:
        remarks.append(Remark("schedule", "question", str(problem)))
    if isinstance(rule, GridRule):
        remarks.append(
            Remark("phase", "changed", "its interval counts from the end of the run before; here from midnight UTC on")
        )
    retry = entry.get("retry_parameters")
    limit = retry.get("job_retry_limit", 0) if isinstance(retry, dict) else 0
    job: dict[str, Any] = {
        "description": str(entry.get("description") or url),
        "schedule": schedule,
        "timezone": zone,
        "dst": {"gap": "skip", "repeat": "first"},
        "overlap": "allow_all",
        "catchup": {"policy": "skip"},
    }
    if isinstance(limit, int) and limit > 0:
        job["retry"] = {"max_attempts": limit + 1}
    job["run"] = {
        "http": {"url": f"https://service.example.invalid{url}".replace("{", "{{").replace("}", "}}"), "method": "GET"}
    }
    name = str(entry.get("description") or url)
    return OldJob(file, 0, name, f"{url}: {expression}", [url], job, rule, POLICIES, remarks)


def parse_words(text: str, zone: str) -> tuple[OldRule, Any]:
    """The old meaning, and the entry of the spec. Raises ImportProblem for what is not read here."""
    words = " ".join(text.lower().replace(", ", ",").split())
    if match := _EVERY.fullmatch(words):
        every = timedelta(seconds=int(match[1]) * UNITS[match[2]])
        if match[3] and timedelta(days=1) % every:
            raise ImportProblem(f"`{text}` does not divide the day: at which times does it run?")
        return GridRule(every), {"every": format_duration(every)}
    match = _DAYS.fullmatch(words)
    if match is None:
        raise ImportProblem(f"`{text}` cannot be read: which cron expression is it?")
    months = QUARTERS.get(match["months"] or "") or _names(match["months"] or "month", MONTHS, "month", text)
    on_day, day, weekday = _days(match["days"], text)
    wanted = None if months == "*" else {int(each) for each in months.split(",")}
    at = time(int(match["hour"]) % 24, int(match["minute"]))

    def fires(each: date) -> bool:
        return (wanted is None or each.month in wanted) and on_day(each)

    rule = WallRule((at,), fires, zone, "once")
    return rule, f"{at.minute} {at.hour} {day} {months} {weekday}"


def _days(text: str, whole: str) -> tuple[Callable[[date], bool], str, str]:
    """Which days, and the two day fields of cron that say the same. Raises ImportProblem."""
    if re.fullmatch(r"\d+(,\d+)*", text):
        days = {int(each) for each in text.split(",")}
        return (lambda at: at.day in days), text, "*"
    ordinals, _, weekdays = text.rpartition(" ")
    numbers = [ORDINALS.get(each, 0) for each in ordinals.split(",")] if ordinals not in {"", "every"} else []
    if 0 in numbers:
        raise ImportProblem(f"`{whole}` cannot be read: which cron expression is it?")
    field = _names(weekdays, MONDAY_0, "day", whole)
    if field == "*" and numbers:
        return (lambda at: at.day in numbers), ",".join(map(str, numbers)), "*"
    if field == "*":
        return (lambda _at: True), "*", "*"
    wanted = {int(each) for each in field.split(",")}
    cron_days = [str((each + 1) % 7) for each in sorted(wanted)]
    if not numbers:
        return (lambda at: at.weekday() in wanted), "*", ",".join(cron_days)
    listed = ",".join(f"{day}#{number}" for day in cron_days for number in numbers)
    return (lambda at: at.weekday() in wanted and (at.day - 1) // 7 + 1 in numbers), "*", listed


def _names(text: str, known: Mapping[str, int], anything: str, whole: str) -> str:
    """Names as numbers with commas between; `*` for the word that means them all. Raises ImportProblem."""
    if text == anything:
        return "*"
    found = [known.get(each[:3], -1) for each in text.split(",")]
    if -1 in found or not all(_is_name(each) for each in text.split(",")):
        raise ImportProblem(f"`{whole}` cannot be read: which cron expression is it?")
    return ",".join(map(str, sorted(set(found))))


def _is_name(word: str) -> bool:
    full = {name.lower() for name in (*calendar.month_name, *calendar.day_name) if name}
    return word in full | {name[:3] for name in full} | {"sept", "tues", "wednes", "thur", "thurs"}
