"""When the old side started its jobs: cron's lines in syslog or the journal, Kubernetes Jobs, Celery beat's log, or lines of `TIME JOB`. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final
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
SCHEDULED: Final = "batch.kubernetes.io/cronjob-scheduled-timestamp"


@dataclass(frozen=True, slots=True)
class OldStart:
    """One start of the old side, in UTC. `key` is what names its job there: a command, a CronJob, an entry of beat, or a job."""

    at: datetime
    key: str


def old_starts(text: str, zone: str, now: datetime) -> Iterator[OldStart]:
    """Every start that the text tells of. Times without an offset are of `zone`, and those without a year are the last such time."""
    if text.lstrip().startswith("{") and '"items"' in text[:5_000]:
        yield from _jobs(json.loads(text))
        return
    for line in text.splitlines():
        for read in (_journal, _syslog, _celery, _plain):
            if (found := read(line, ZoneInfo(zone), now)) is not None:
                yield found
                break


def _jobs(document: Any) -> Iterator[OldStart]:
    """`kubectl get jobs -o json`: a Job is one start of the CronJob that owns it."""
    for item in document.get("items") or ():
        meta = item.get("metadata") or {}
        owner = next(
            (each.get("name") for each in meta.get("ownerReferences") or () if each.get("kind") == "CronJob"), None
        )
        at = (meta.get("annotations") or {}).get(SCHEDULED) or (item.get("status") or {}).get("startTime")
        if owner and at:
            yield OldStart(datetime.fromisoformat(at).astimezone(UTC), str(owner))


def _journal(line: str, _zone: ZoneInfo, _now: datetime) -> OldStart | None:
    """`journalctl -o json`: microseconds of Unix time, and cron's message."""
    if not line.startswith("{"):
        return None
    try:
        entry = json.loads(line)
        at = datetime.fromtimestamp(int(entry["__REALTIME_TIMESTAMP"]) / 1_000_000, UTC)
        match = _CMD.search(entry["MESSAGE"])
    except (ValueError, KeyError, TypeError):
        return None
    return OldStart(at, match["command"]) if match else None


def _syslog(line: str, zone: ZoneInfo, now: datetime) -> OldStart | None:
    if match := _SYSLOG_ISO.match(line):
        return _cron(match, datetime.fromisoformat)
    if match := _SYSLOG.match(line):
        return _cron(match, lambda text: _without_year(text, zone, now))
    return None


def _cron(match: re.Match[str], read: Callable[[str], datetime]) -> OldStart | None:
    command = _CMD.search(match["rest"])
    return OldStart(read(match["at"]).astimezone(UTC), command["command"]) if command else None


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
        OldStart(datetime.fromisoformat(match["at"]).replace(tzinfo=zone).astimezone(UTC), match["name"])
        if match
        else None
    )


def _plain(line: str, zone: ZoneInfo, _now: datetime) -> OldStart | None:
    match = _PLAIN.match(line)
    if match is None:
        return None
    at = datetime.fromisoformat(match["at"])
    return OldStart((at if at.tzinfo else at.replace(tzinfo=zone)).astimezone(UTC), match["job"])
