"""systemd units as text: sections, keys that may stand more than once, continued lines, quoted words (systemd.syntax(7))."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from schedules.importing.problem import ImportProblem

_TIME: Final = re.compile(r"(\d+)\s*([a-zA-Zµ]*)")
_SECONDS: Final = {
    **dict.fromkeys(("", "s", "sec", "second", "seconds"), 1),
    **dict.fromkeys(("m", "min", "minute", "minutes"), 60),
    **dict.fromkeys(("h", "hr", "hour", "hours"), 3_600),
    **dict.fromkeys(("d", "day", "days"), 86_400),
    **dict.fromkeys(("w", "week", "weeks"), 604_800),
}


@dataclass(frozen=True, slots=True)
class Setting:
    """One `Key=value` line."""

    line: int
    section: str
    key: str
    value: str


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit file's settings in their order; an empty value takes back what came before it."""

    settings: Sequence[Setting]

    def all(self, section: str, key: str) -> list[Setting]:
        """Every setting of a key."""
        found: list[Setting] = []
        for each in self.settings:
            if (each.section, each.key) == (section, key):
                found = [*found, each] if each.value else []
        return found

    def last(self, section: str, key: str) -> str | None:
        """The value that holds, None where there is none."""
        found = self.all(section, key)
        return found[-1].value if found else None


def parse_unit(text: str) -> Unit:
    """The settings of a unit file; comments and lines that are no setting are left out."""
    settings, section, pending, start = list[Setting](), "", "", 0
    for number, line in enumerate(text.splitlines(), start=1):
        stripped = line.strip()
        if stripped.startswith(("#", ";")):
            continue
        start = start if pending else number
        pending += stripped
        if pending.endswith("\\"):
            pending = pending[:-1] + " "
            continue
        if re.fullmatch(r"\[.+\]", pending):
            section = pending[1:-1]
        elif "=" in pending:
            key, _, value = pending.partition("=")
            settings.append(Setting(start, section, key.strip(), value.strip()))
        pending = ""
    return Unit(settings)


def words(value: str) -> list[str]:
    """Words with systemd's quotes. Raises ImportProblem for a quote without its partner."""
    try:
        return shlex.split(value)
    except ValueError as error:
        raise ImportProblem(f"`{value}`: {error}") from None


def span(value: str) -> timedelta:
    """A time span such as `45min`, `1h 30min` or `90`. Raises ImportProblem."""
    parts = _TIME.findall(value)
    if not parts or _TIME.sub("", value).strip() or any(unit not in _SECONDS for _, unit in parts):
        raise ImportProblem(f"`{value}` is not a time span of whole seconds")
    return timedelta(seconds=sum(int(number) * _SECONDS[unit] for number, unit in parts))
