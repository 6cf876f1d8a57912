"""When the old side started its jobs: cron's lines in syslog or the journal, Kubernetes Jobs, Celery beat's log, or lines of `TIME JOB`. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, Final, Literal
from zoneinfo import ZoneInfo

_CMD: Final = re.compile(r"\([^)]*\) CMD \((?P<command>.*)\)\s*$")
_SYSLOG: Final = re.compile(
    r"(?P<at>[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d) \S+ (?:CRON|cron|crond|CROND)\S*: (?P<rest>.*)"
)
_SYSLOG_ISO: Final = re.compile(r"(?P<at>\d{4}-\d\d-\d\dT\S+) \S+ (?:CRON|cron|crond|CROND)\S*: (?P<rest>.*)")
_CELERY: Final = re.compile(
    r"\[(?P<at>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)[,.\d]*: \w+/\w+\] Scheduler: Sending due task (?P<name>.+?) \("
)
_PLAIN: Final = re.compile(
    r"(?P<at>\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)\s+(?P<job>\S+)\s*$"
)
_CLAIM: Final = re.compile(r"\bclaim (?:--\S+ (?:(?:run|skip) )?)*(?P<job>[\w.-]+) (?:--\S+ )*?-- ")
Side = Literal["cron", "cronjob", "celery", "other"]
YEARS: Final = range(1990, 2100)
SCHEDULED: Final = "batch.kubernetes.io/cronjob-scheduled-timestamp"


@dataclass(frozen=True, slots=True)
class OldStart:
    """One start of the old side, in UTC. `key` is what names its job there: a command, a CronJob, an entry of beat, or a job."""

    at: datetime
    key: str
    side: Side = "other"
    claims: bool = False  #: by `tickwright claim`: whether the old side did the work, the history tells


def old_starts(text: str, zone: str, now: datetime, unreadable: list[str] | None = None) -> Iterator[OldStart]:
    """Every start that the text tells of. Times without an offset are of `zone`, and those without a year are the last such time.

    `unreadable` gets what looks like a start and has no time that can be read. Raises ValueError for JSON that is cut off.
    """
    found: Iterable[tuple[str, Callable[[], OldStart | None]]]
    if text.lstrip().startswith("{") and '"items"' in text[:5_000]:
        items = json.loads(text).get("items")
        found = (
            (f"item {number}", partial(_job, item))
            for number, item in enumerate(items if isinstance(items, list) else (), 1)
        )
    else:
        lines = enumerate(text.split("\n"), 1)
        found = ((f"line {number}", partial(_line, line, ZoneInfo(zone), now)) for number, line in lines)
    for place, read in found:
        try:
            start, good = read(), True
        except (ValueError, OverflowError, OSError):
            start, good = None, False
        if start is not None and start.at.year in YEARS:
            yield start
        elif unreadable is not None and (start is not None or not good):
            unreadable.append(place)


def _line(line: str, zone: ZoneInfo, now: datetime) -> OldStart | None:
    return next((found for read in (_journal, _syslog, _celery, _plain) if (found := read(line, zone, now))), None)


def _job(item: Any) -> OldStart | None:
    """`kubectl get jobs -o json`: a Job is one start of the CronJob that owns it."""
    meta, status = _mapping(item, "metadata"), _mapping(item, "status")
    owners = meta.get("ownerReferences")
    kinds = [each for each in owners if isinstance(each, dict)] if isinstance(owners, list) else []
    owner = next((each.get("name") for each in kinds if each.get("kind") == "CronJob"), None)
    at = _mapping(meta, "annotations").get(SCHEDULED) or status.get("startTime")
    if not owner or not at:
        return None
    return OldStart(datetime.fromisoformat(str(at)).astimezone(UTC), str(owner), "cronjob")


def _mapping(data: Any, key: str) -> dict[str, Any]:
    value = data.get(key) if isinstance(data, dict) else None
    return value if isinstance(value, dict) else {}


def _journal(line: str, _zone: ZoneInfo, _now: datetime) -> OldStart | None:
    """`journalctl -o json`: microseconds of Unix time, and cron's message."""
    if not line.startswith("{"):
        return None
    try:
        entry = json.loads(line)
        match = _CMD.search(entry["MESSAGE"])
        stamp = int(entry["__REALTIME_TIMESTAMP"])
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    return _of_command(datetime.fromtimestamp(stamp / 1_000_000, UTC), match["command"]) if match else None


def _syslog(line: str, zone: ZoneInfo, now: datetime) -> OldStart | None:
    if match := _SYSLOG_ISO.match(line):
        return _cron(match, datetime.fromisoformat)
    if match := _SYSLOG.match(line):
        return _cron(match, lambda text: _without_year(text, zone, now))
    return None


def _cron(match: re.Match[str], read: Callable[[str], datetime]) -> OldStart | None:
    command = _CMD.search(match["rest"])
    return _of_command(read(match["at"]).astimezone(UTC), command["command"]) if command else None


def _of_command(at: datetime, command: str) -> OldStart:
    """A line that claims names its job itself."""
    claim = _CLAIM.search(command)
    return OldStart(at, claim["job"] if claim else command, "cron", claims=bool(claim))


def _without_year(text: str, zone: ZoneInfo, now: datetime) -> datetime:
    """The newest such time up to a day from now."""
    for year in (now.year + 1, now.year, now.year - 1, now.year - 2, now.year - 3, now.year - 4):
        try:
            at = datetime.strptime(f"{year} {text}", "%Y %b %d %H:%M:%S").replace(tzinfo=zone)
        except ValueError:  # the 29th of February
            continue
        if at <= now + timedelta(days=1):
            return at
    raise ValueError(text)


def _celery(line: str, zone: ZoneInfo, _now: datetime) -> OldStart | None:
    match = _CELERY.search(line)
    return (
        OldStart(datetime.fromisoformat(match["at"]).replace(tzinfo=zone).astimezone(UTC), match["name"], "celery")
        if match
        else None
    )


def _plain(line: str, zone: ZoneInfo, _now: datetime) -> OldStart | None:
    match = _PLAIN.match(line)
    if match is None:
        return None
    at = datetime.fromisoformat(match["at"])
    return OldStart((at if at.tzinfo else at.replace(tzinfo=zone)).astimezone(UTC), match["job"])
