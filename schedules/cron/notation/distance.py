"""`@every 5m`: a fixed distance, in the notation of Go's durations."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from schedules.cron.errors import CronError
from schedules.cron.pattern import Every

if TYPE_CHECKING:
    from schedules.cron.notation.cells import Cell
    from schedules.cron.notation.dialects import Dialect

MILLISECONDS = {"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
_PART = re.compile(r"(\d{1,12})(?:\.(\d{1,9}))?(ms|[smhd])", re.ASCII)
_DAYS = re.compile(r"(\d{1,5})d", re.ASCII)
BILLION = 10**9  # parts of a millisecond; a number has nine digits after the point at most
LONGEST = 100 * 366 * 86400
ALLOWED = "a whole number of seconds from 1s on, as in 30s, 5m, 1h30m, 1d"


def every_of(words: tuple[Cell, ...], dialect: Dialect) -> Every:
    """`@every <distance>` and, but in Go's own notation, `@every <distance>/<offset>`, counted from the epoch."""
    if len(words) != 2:  # noqa: PLR2004  the name and the distance
        raise CronError("@every takes one distance", field="every", allowed=ALLOWED, position=words[0].at)
    distance, offset = words[1].partition("/")
    if dialect.go_durations:
        _check_of_go(distance, words[1] if offset else None)
    return every(seconds_of(distance), 0 if offset is None else seconds_of(offset), distance.at)


def _check_of_go(distance: Cell, with_offset: Cell | None) -> None:
    """Go's `time.ParseDuration` knows no days, and robfig/cron no offset."""
    if with_offset is not None:
        raise CronError(
            f"{with_offset.text!r} has an offset",
            field="every",
            value=with_offset.text,
            suggestion="leave it out, or use dialect cron",
            position=with_offset.at,
        )
    if "d" in distance.text:
        days = int(found[1]) if (found := _DAYS.fullmatch(distance.text)) else 1
        raise CronError(
            f"{distance.text!r} is no distance",
            field="every",
            value=distance.text,
            allowed="hours, minutes and seconds, as in 1h30m",
            suggestion=f"write {24 * days}h for {days} day{'' if days == 1 else 's'}",
            position=distance.at,
        )


def every(seconds: int, offset: int, position: int | None = None) -> Every:
    """A fixed distance, checked: at least a second, and an offset shorter than it."""
    if not 1 <= seconds <= LONGEST:
        raise CronError(
            f"{seconds} s is no distance", field="every", value=str(seconds), allowed=ALLOWED, position=position
        )
    if not 0 <= offset < seconds:
        problem = f"an offset of {offset} s does not fit a distance of {seconds} s"
        raise CronError(problem, field="offset", value=str(offset), allowed=f"0-{seconds - 1} s", position=position)
    return Every(seconds, offset)


def seconds_of(cell: Cell) -> int:
    """Whole seconds of a duration such as `1h30m`."""
    parts = list(_PART.finditer(cell.text))
    total = sum(int(part[1] + (part[2] or "").ljust(9, "0")) * MILLISECONDS[part[3]] for part in parts)
    seconds, rest = divmod(total, 1000 * BILLION)
    if not parts or rest or "".join(part.group() for part in parts) != cell.text:
        suggestion = f"did you mean {cell.text}s?" if cell.text.isdecimal() else ""
        raise CronError(
            f"{cell.text!r} is no distance",
            field="every",
            value=cell.text,
            allowed=ALLOWED,
            suggestion=suggestion,
            position=cell.at,
        )
    return seconds
