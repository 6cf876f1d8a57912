"""Names of time zones: only those of the tz database, never the machine's own."""

from __future__ import annotations

from functools import cache
from zoneinfo import ZoneInfo, available_timezones

from schedules.text.nearest import nearest
from schedules.text.shown import shown

_NOT_PORTABLE = ("posix/", "right/")
_MACHINES_OWN = frozenset({"localtime", "posixrules", "Factory"})


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
    zones = _zones()
    city = name.rpartition("/")[2].casefold()
    same_city = [zone for zone in zones if zone.rpartition("/")[2].casefold() == city]
    if close := nearest(name, same_city) or same_city[:3] or nearest(name, zones):
        return f"did you mean {' or '.join(f'`{zone}`' for zone in close)}?"
    return 'write a name of the tz database such as "Europe/Berlin" or "UTC"'
