"""What a change does to a job's times, in the words of the file. Pure.

The words that a schedule was written in stand in its details, which the Web UI shows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from schedules.cron.notation.literal import literal_text
from schedules.model import DesiredSchedule
from schedules.plan.differences import FieldDiff
from schedules.plan.fingerprint import fingerprint
from schedules.spec.describe import Written, written_of
from schedules.text.duration import format_duration

if TYPE_CHECKING:
    from schedules.model import Interval, ObservedSchedule, Times
    from schedules.plan.change import Update

EVERY = re.compile(r"every (\w+)(?: \+ (\w+))?")
OF_CALENDAR = re.compile(r"(?:^|, )calendar ([^,]+)")
PARTS = ("times.calendars", "times.intervals", "times.exclusions", "times.end_at")
MOMENT = 30 * 365 * 86_400
"""Seconds; a longer interval stands for a single moment, of a clock change."""
MOST_ENTRIES = 3
STAY = "the times stay"
"""How the consequence begins that tells of a longer horizon alone."""


def schedule_worded(change: Update) -> Iterator[FieldDiff]:
    """The schedule, its zone and calendars, and what clock changes do to it."""
    was, becomes = change.observed.times, change.desired.times
    old, new = written_of(change.observed.action.details), written_of(change.desired.action.details)
    if was.timezone != becomes.timezone:
        yield FieldDiff("timezone", was.timezone, becomes.timezone)
    if _begin(was) != _begin(becomes):
        yield FieldDiff("start_at", _begin(was), _begin(becomes))
    if not (old.schedule and new.schedule):
        yield from times_worded(was, becomes)
        return
    said = list(_said(old, new))
    yield from said
    stays = any(note.startswith(STAY) for note in change.consequences.notes)
    if not (said or stays or old.timezone != new.timezone) and _differ(change):
        yield from _unsaid(change, new)


def _said(old: Written, new: Written) -> Iterator[FieldDiff]:
    """What the file says in other words than before."""
    before, after = old.calendars, new.calendars
    if before["schedule"] != after["schedule"]:
        yield from _entries(before["schedule"], after["schedule"])
    for name in ("only", "except"):
        if before[name] != after[name]:
            goes, comes = ((side[name].split(" and ") if side[name] else None) for side in (before, after))
            yield FieldDiff(name, goes, comes)
    if before["on_holiday"] != after["on_holiday"]:
        yield FieldDiff("on_holiday", before["on_holiday"] or "skip", after["on_holiday"] or "skip")
    for name in ("gap", "repeat"):
        if getattr(old, name) != getattr(new, name):
            yield FieldDiff(f"dst.{name}", getattr(old, name), getattr(new, name))


def _entries(before: str, after: str) -> Iterator[FieldDiff]:
    old, new = EVERY.fullmatch(before), EVERY.fullmatch(after)
    if not (old and new):
        yield FieldDiff("schedule", before, after)
        return
    for name, was, becomes in zip(("every", "offset"), old.groups(), new.groups(), strict=True):
        if was != becomes:
            yield FieldDiff(f"schedule.{name}", was, becomes)


def _differ(change: Update) -> bool:
    return any(item.field.startswith(PARTS) for item in change.diff)


def _unsaid(change: Update, new: Written) -> Iterator[FieldDiff]:
    """Other times in the same words: of calendars that have changed, or by another hand."""
    was = change.observed.times
    if not _as_written(change.observed):
        if times_text(was) == times_text(change.desired.times):
            yield from (item for item in change.diff if item.field.startswith(PARTS))
        else:
            yield FieldDiff("schedule", times_text(was), new.schedule)
        return
    parts = new.calendars
    names = [name for key in ("only", "except") if parts[key] for name in parts[key].split(" and ")]
    names += OF_CALENDAR.findall(parts["schedule"])
    for field in [f"calendars.{name}" for name in dict.fromkeys(names)] or ["schedule"]:
        yield FieldDiff(field, "the days before", "the days in the file")


def _as_written(observed: ObservedSchedule) -> bool:
    """Whether the server has what a sync wrote last."""
    there = DesiredSchedule(
        observed.id,
        observed.owner or "",
        observed.times,
        observed.action,
        observed.policies,
        encryption=observed.encryption,
    )
    return any(fingerprint(replace(there, paused=paused)) == observed.fingerprint for paused in (None, False, True))


def times_worded(was: Times, becomes: Times) -> Iterator[FieldDiff]:
    """The schedule where its own words are not known; moments that clock changes need are left out."""
    before, after = times_text(_plain(was)), times_text(_plain(becomes))
    if before != after:
        yield FieldDiff("schedule", before, after)


def _plain(times: Times) -> Times:
    """Without the calendars of single years, where it has others."""
    lasting = tuple(replace(calendar, comment="") for calendar in times.calendars if not calendar.year)
    return replace(times, calendars=lasting, intervals=_lasting(times)) if lasting else times


def _lasting(times: Times) -> tuple[Interval, ...]:
    return tuple(interval for interval in times.intervals if interval.every < MOMENT)


def times_text(times: Times) -> str:
    """What the server has, as far as it can be said in short; for times that were not written by a sync."""
    entries = [f"every {format_duration(timedelta(seconds=interval.every))}" for interval in times.intervals]
    entries += [f"calendar {literal_text(calendar)}" for calendar in times.calendars]
    more = f", and {len(entries) - MOST_ENTRIES} more" if len(entries) > MOST_ENTRIES else ""
    return ", ".join(entries[:MOST_ENTRIES]) + more or "never"


def _begin(times: Times) -> str | None:
    """The begin as local time of the job."""
    if times.start_at is None:
        return None
    return times.start_at.astimezone(ZoneInfo(times.timezone)).replace(tzinfo=None).isoformat(timespec="minutes")
