"""Times as people write them for a question: local to the job's zone unless they have an offset. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo

from schedules.cron.offsets import FIRST_YEAR, LAST_YEAR
from schedules.errors import SettingsError
from schedules.text.duration import parse_duration
from schedules.text.shown import shown

EXAMPLES = (
    "write 2027-03-14T02:00 (local time of the job), 2027-03-14T07:00Z, 02:00 (the last one) or an occurrence's id"
)
SPAN_EXAMPLES = (
    "write 24h or 7d (so long before now), 02:00 (the last one), 2027-03-14T02:00, 2027-03-14T07:00Z or 2027-03-14"
)
AHEAD_EXAMPLES = (
    "write 2h or 7d (so long from now), 02:00 (the next one), 2027-03-14T02:00, 2027-03-14T07:00Z or 2027-03-14"
)
_CLOCK = re.compile(r"\d{1,2}:\d{2}(:\d{2})?")
DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Moment:
    """What was asked for: one instant, or both that a repeated local time stands for. `wall` is the local time, if one was given.

    `missing`: clocks were put forward over it, and the instant is as if they had not been.
    """

    instants: tuple[datetime, ...]
    wall: datetime | None = None
    missing: bool = False


def parse_moment(text: str, timezone: str, now: datetime) -> Moment:
    """The time that `text` means, in whole seconds; a bare clock time is its last one. Raises SettingsError."""
    zone = ZoneInfo(timezone)
    text = text.strip()
    if _CLOCK.fullmatch(text):
        return _clock(text, zone, now)
    try:
        given = datetime.fromisoformat(text).replace(microsecond=0)
    except ValueError:
        raise SettingsError(f"{shown(text)} is not a time; {EXAMPLES}") from None
    if not FIRST_YEAR < given.year < LAST_YEAR:
        raise SettingsError(f"{shown(text)}: write a time from {FIRST_YEAR + 1} to {LAST_YEAR - 1}")
    return Moment((given.astimezone(UTC),)) if given.tzinfo else local_moment(given, zone)


def local_moment(wall: datetime, zone: ZoneInfo) -> Moment:
    """A naive local time as its instant or instants."""
    first, second = (wall.replace(tzinfo=zone, fold=fold).astimezone(UTC) for fold in (0, 1))
    if first == second:
        return Moment((first,), wall)
    missing = first.astimezone(zone).replace(tzinfo=None) != wall
    return Moment((first,), wall, missing=True) if missing else Moment((first, second), wall)


def parse_instant(
    text: str, now: datetime, *, timezone: str = "UTC", ahead: bool = False, option: str = ""
) -> datetime:
    """An instant in UTC, from a time (local unless it has an offset) or a duration counted from now. Raises SettingsError.

    A bare clock time is its last one, `ahead` its next.
    """
    try:
        span = parse_duration(text)
    except ValueError:
        pass
    else:
        return now + span if ahead else now - span
    if _CLOCK.fullmatch(text):
        return _clock(text, ZoneInfo(timezone), now, ahead=ahead).instants[0]
    try:
        given = datetime.fromisoformat(text)
    except ValueError:
        examples = AHEAD_EXAMPLES if ahead else SPAN_EXAMPLES
        raise SettingsError(f"{option} {shown(text)} is not a time; {examples}".strip()) from None
    if not FIRST_YEAR < given.year < LAST_YEAR:
        raise SettingsError(f"{option} {shown(text)}: write a time from {FIRST_YEAR + 1} to {LAST_YEAR - 1}".strip())
    return given.astimezone(UTC) if given.tzinfo else local_moment(given, ZoneInfo(timezone)).instants[0]


def _clock(text: str, zone: ZoneInfo, now: datetime, *, ahead: bool = False) -> Moment:
    """The last such time of a day, or the next."""
    hours, minutes, seconds = (int(part) for part in f"{text}:0".split(":")[:3])
    try:
        clock = time(hours, minutes, seconds)
    except ValueError:
        raise SettingsError(f"{shown(text)} is no time of a day; {EXAMPLES}") from None
    today = now.astimezone(zone).date()
    found = local_moment(datetime.combine(today, clock), zone)
    if ahead:
        return found if found.instants[0] > now else local_moment(datetime.combine(today + DAY, clock), zone)
    return found if found.instants[0] <= now else local_moment(datetime.combine(today - DAY, clock), zone)


def local_text(at: datetime, timezone: str) -> str:
    """The local time with its offset from UTC, such as `Mon 2027-03-01 08:00:00 -05:00`."""
    local = at.astimezone(ZoneInfo(timezone))
    offset = local.isoformat()[len("2027-03-01T08:00:00") + (7 if local.microsecond else 0) :]
    return f"{local:%a %Y-%m-%d %H:%M:%S} {offset}"


def short_text(at: datetime, timezone: str) -> str:
    """The same without the day of the week, and without seconds where there are none: `2027-03-01 08:00 -05:00`."""
    _, day, clock, offset = local_text(at, timezone).split(" ")
    return f"{day} {clock.removesuffix(':00')} {offset}"
