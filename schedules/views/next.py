"""The next times as a table for a person: local time, UTC, offset, and what clock changes did."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from activities.occurrence import stamp
from schedules.cron import clock_effects
from schedules.cron.notation.words import in_words
from schedules.cron.pattern import Reboot
from schedules.times.clock_notes import left_out_text, notes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from datetime import datetime

    from schedules.times.asked import Asked
    from schedules.times.clock_notes import Note

HEAD = ("local time", "UTC", "offset", "")
MARGIN = timedelta(days=2)
LOCAL_LENGTH = len("2027-03-14T07:00:00")

Row = tuple[str, str, str, str]


def next_text(asked: Asked, times: Sequence[datetime], after: datetime) -> str:
    """What was asked, in words too, and a line for each of the times, which come after `after`."""
    words = in_words(asked.crons[0].parsed()) if len(asked.crons) == 1 and not asked.by_calendar else ""
    title = f"{asked.label} in {asked.timezone}" + (f": {words}" if words else "")
    left_out = left_out_text(asked.left_out(after), asked.timezone, after)
    remarks = [*asked.notes, *([left_out] if left_out else [])]
    if not times and any(isinstance(cron.parsed(), Reboot) for cron in asked.crons):
        return f"{title}\nno scheduled times: it runs once for each new build of the workers"
    if not times:
        return "\n".join([title, f"no time after {after.isoformat()}", *remarks])
    rows = [HEAD, *_rows(asked, times, after)]
    return "\n".join([title, *_aligned(rows), *remarks])


def _rows(asked: Asked, times: Sequence[datetime], after: datetime) -> Iterator[Row]:
    zone = ZoneInfo(asked.timezone)
    found = list(_notes(asked, after, times[-1]))
    rows = [(at, _row(at, zone, [note.text for note in found if note.at == at])) for at in times]
    if not asked.by_calendar:
        without = ((note.day.replace(tzinfo=zone), note) for note in found if note.at is None)
        rows += [(at, (f"{at:%a %Y-%m-%d}", "", "", note.text)) for at, note in without if after < at < times[-1]]
    return (row for _, row in sorted(rows))


def _row(at: datetime, zone: ZoneInfo, texts: Sequence[str]) -> Row:
    local = at.astimezone(zone)
    offset = local.isoformat()[LOCAL_LENGTH:]
    return f"{local:%a %Y-%m-%d %H:%M:%S}", stamp(at), offset, "; ".join(dict.fromkeys(texts))


def _notes(asked: Asked, after: datetime, last: datetime) -> Iterator[Note]:
    for cron in asked.crons:
        effects = clock_effects(
            cron.expression,
            timezone=asked.timezone,
            dialect=cron.dialect,
            gap=asked.policy.gap,
            repeat=asked.policy.repeat,
            hash_key=cron.hash_key,
            start=after - MARGIN,
            end=last + MARGIN,
        )
        yield from notes(effects, asked.timezone)


def _aligned(rows: Iterable[Row]) -> Iterator[str]:
    table = list(rows)
    widths = [max(len(row[column]) for row in table) for column in range(len(HEAD))]
    return ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in table)
