"""Durations as people write them: `30s`, `5m`, `2h`, `1d`, `1h30m`."""

from __future__ import annotations

import re
from datetime import timedelta
from functools import lru_cache

from schedules.text.shown import shown

UNITS = {"d": 86_400, "h": 3_600, "m": 60, "s": 1}
LONGEST = timedelta(days=36_500)
PATTERN = r"^(?=[0-9])([0-9]+d)?([0-9]+h)?([0-9]+m)?([0-9]+s)?$"
_EXAMPLES = 'write for example "30s", "5m", "2h", "1d" or "1h30m"'
_PARTS = re.compile(r"(?=\d)" + "".join(rf"(?:(?P<{unit}>[0-9]{{1,12}}){unit})?" for unit in UNITS))


def parse_duration(value: object) -> timedelta:
    """Whole seconds from text such as `1h30m`; a timedelta is checked and passed on. Raises ValueError."""
    if isinstance(value, timedelta):
        return _within_bounds(value, str(value))
    if isinstance(value, str):
        return _parse_text(value)
    number = isinstance(value, int | float) and not isinstance(value, bool)
    raise ValueError(_unit_missing(value) if number else f"must be a duration, not {shown(value)}; {_EXAMPLES}")


def format_duration(value: timedelta) -> str:
    """Text that `parse_duration` reads back, in the largest units that fit: 5400 seconds are `1h30m`."""
    rest = int(value.total_seconds())
    parts = []
    for unit, seconds in UNITS.items():
        count, rest = divmod(rest, seconds)
        if count:
            parts.append(f"{count}{unit}")
    return "".join(parts) or "0s"


@lru_cache(maxsize=1_000)
def _parse_text(text: str) -> timedelta:
    found = _PARTS.fullmatch(text)
    if found is None:
        raise ValueError(f"{shown(text)} is not a duration; {_EXAMPLES}")
    seconds = sum(int(count) * UNITS[unit] for unit, count in found.groupdict(default="0").items())
    if seconds > LONGEST.total_seconds():
        raise ValueError(f"{shown(text)} is too long; write {LONGEST.days}d at most")
    return timedelta(seconds=seconds)


def _within_bounds(value: timedelta, shown: str) -> timedelta:
    if value.microseconds or not timedelta(0) <= value <= LONGEST:
        raise ValueError(f"{shown} is out of range; a duration is whole seconds, from 0s to {LONGEST.days}d")
    return value


def _unit_missing(value: object) -> str:
    if isinstance(value, float):
        return f'{value} is not a duration; write whole numbers with a unit, for example "90s" or "1m30s"'
    return f'{value} has no unit; write "{value}s" for seconds or "{value}m" for minutes'
