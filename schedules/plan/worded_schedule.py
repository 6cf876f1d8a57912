"""What a change does to a job's times, in the words of the file. Pure.

The words that a schedule was written in stand in its details, which the Web UI shows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import timedelta
from typing import TYPE_CHECKING

from schedules.cron.notation.literal import literal_text
from schedules.plan.differences import FieldDiff
from schedules.spec.describe import written_of
from schedules.text.duration import format_duration

if TYPE_CHECKING:
    from schedules.model import Times
    from schedules.plan.change import Update

EVERY = re.compile(r"every (\w+)")
PARTS = ("times.calendars", "times.intervals", "times.exclusions")
MOST_ENTRIES = 3
STAY = "the times stay"
"""How the consequence begins that tells of a longer horizon alone."""


def schedule_worded(change: Update) -> Iterator[FieldDiff]:
    """The schedule, its zone, and what clock changes do to it."""
    old, new = written_of(change.observed.action.details), written_of(change.desired.action.details)
    fields = [item.field for item in change.diff]
    if "times.timezone" in fields:
        yield FieldDiff("timezone", change.observed.times.timezone, change.desired.times.timezone)
    if not any(field.startswith(PARTS) for field in fields):
        return
    if (old.gap, old.repeat) != (new.gap, new.repeat) and old.schedule == new.schedule:
        if old.gap != new.gap:
            yield FieldDiff("dst.gap", old.gap, new.gap)
        if old.repeat != new.repeat:
            yield FieldDiff("dst.repeat", old.repeat, new.repeat)
        return
    if any(note.startswith(STAY) for note in change.consequences.notes):
        return
    unchanged = old.schedule == new.schedule
    yield _entries(times_text(change.observed.times) if unchanged else old.schedule, new.schedule)


def _entries(before: str, after: str) -> FieldDiff:
    old, new = EVERY.fullmatch(before), EVERY.fullmatch(after)
    return FieldDiff("schedule.every", old[1], new[1]) if old and new else FieldDiff("schedule", before, after)


def times_text(times: Times) -> str:
    """What the server has, as far as it can be said in short; for times that were not written by a sync."""
    entries = [f"every {format_duration(timedelta(seconds=interval.every))}" for interval in times.intervals]
    entries += [f"calendar {literal_text(calendar)}" for calendar in times.calendars]
    more = f", and {len(entries) - MOST_ENTRIES} more" if len(entries) > MOST_ENTRIES else ""
    return ", ".join(entries[:MOST_ENTRIES]) + more or "never"
