"""Names of time zones: only those of the tz database, never the machine's own."""

from __future__ import annotations

import re
from functools import cache
from zoneinfo import ZoneInfo, available_timezones

from schedules.text.nearest import nearest
from schedules.text.shown import shown

_NOT_PORTABLE = ("posix/", "right/")
_MACHINES_OWN = frozenset({"localtime", "posixrules", "Factory"})
_OFFSET = re.compile(
    r"(?:Etc/)?(?:GMT|UTC?|Z)?\s?(?P<sign>[+-])(?P<hours>\d{1,2})(?::?(?P<minutes>\d{2}))?", re.IGNORECASE
)
_EAST, _WEST = 14, 12
"""Hours: how far the zones of the tz database that are fixed offsets go."""
_CITIES = {
    "AEDT": "Australia/Sydney", "AEST": "Australia/Sydney", "AKST": "America/Anchorage", "BST": "Europe/London",
    "CDT": "America/Chicago", "CEST": "Europe/Berlin", "CST": "America/Chicago` or `Asia/Shanghai", "EDT": "America/New_York",
    "EEST": "Europe/Helsinki", "HKT": "Asia/Hong_Kong", "IST": "Asia/Kolkata`, `Asia/Jerusalem` or `Europe/Dublin",
    "JST": "Asia/Tokyo", "KST": "Asia/Seoul", "MDT": "America/Denver", "MSK": "Europe/Moscow", "NZDT": "Pacific/Auckland",
    "NZST": "Pacific/Auckland", "PDT": "America/Los_Angeles", "PST": "America/Los_Angeles", "SGT": "Asia/Singapore",
    "WEST": "Europe/Lisbon",
}  # fmt: skip
"""Abbreviations that are no keys of the tz database, and look like others that are."""


@cache
def check_timezone(name: str) -> str:
    """The name itself if it is a key of the tz database. Raises ValueError with near misses."""
    if name in _MACHINES_OWN or name.startswith(_NOT_PORTABLE):
        advice = 'write a zone such as "Europe/Berlin", never the machine\'s own'
        raise ValueError(f"{shown(name)} differs from machine to machine; {advice}")
    try:
        ZoneInfo(name)
    except (ValueError, OSError, KeyError):
        raise ValueError(f"{shown(name)} is not a time zone; {_advice(name[:60].replace(' ', '_'))}") from None
    return name


@cache
def _zones() -> list[str]:
    return sorted(available_timezones() - _MACHINES_OWN)


def _advice(name: str) -> str:
    if offset := _OFFSET.fullmatch(name):
        return _offset_advice(offset)
    if city := _CITIES.get(name.upper()):
        return f"write a city such as `{city}`"
    zones = _zones()
    place = name.rpartition("/")[2].casefold()
    same_place = [zone for zone in zones if zone.rpartition("/")[2].casefold() == place]
    if close := nearest(name, same_place) or same_place[:3] or nearest(name, zones):
        return f"did you mean {' or '.join(f'`{zone}`' for zone in close)}?"
    return 'write a name of the tz database such as "Europe/Berlin" or "UTC"'


def _offset_advice(offset: re.Match[str]) -> str:
    """The zones `Etc/GMT…` count the other way round: two hours east of Greenwich is `Etc/GMT-2`."""
    hours, east = int(offset["hours"]), offset["sign"] == "+"
    named = "a named zone such as `Europe/Berlin` has the clock changes"
    if int(offset["minutes"] or 0) or hours > (_EAST if east else _WEST):
        return "an offset names no place; write the zone of one, such as `Asia/Kolkata`"
    if not hours:
        return "write `UTC`"
    side = "east" if east else "west"
    return f"`Etc/GMT{'-' if east else '+'}{hours}` is {hours} hour{'' if hours == 1 else 's'} {side} of Greenwich; {named}"
