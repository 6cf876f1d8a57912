"""Effects of clock changes on a cron expression's times, in words, beside the runs concerned."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple
from zoneinfo import ZoneInfo

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from datetime import date, datetime

    from schedules.cron import ClockEffect

MOST_NAMED = 3


class Note(NamedTuple):
    """`text` is about the run at `at`, or where that is None about a local day on which there is none."""

    at: datetime | None
    day: datetime
    text: str


def notes(effects: Iterable[ClockEffect], timezone: str) -> Iterator[Note]:
    """One note for each run concerned, and one for the times of a day that do not run."""
    missing: dict[tuple[datetime | None, datetime], list[ClockEffect]] = {}
    for effect in effects:
        if effect.kind == "missing":
            day = effect.local.replace(hour=0, minute=0, second=0)
            missing.setdefault((next(iter(effect.instants), None), day), []).append(effect)
        else:
            yield from _repeated(effect, timezone)
    for (at, day), group in missing.items():
        verb = "does not exist" if len(group) == 1 else "do not exist"
        then = "no run" if at is None else f"runs {_clock(at.astimezone(ZoneInfo(timezone)))}"
        yield Note(at, day, f"{_named(group)} {verb}, {then}")


def left_out_text(days: Iterable[date], timezone: str, now: datetime) -> str:
    """What to know about days of clock changes that have too many runs, from an instant on; empty where there are none."""
    coming = sorted(day for day in days if day >= now.astimezone(ZoneInfo(timezone)).date())
    if not coming:
        return ""
    more = f", nor on {len(coming) - 1} more such days" if len(coming) > 1 else ""
    return (
        f"clock changes have too many runs to be given one by one: on {coming[0]} it does not run in the hours concerned{more}; "
        "write fewer minutes or seconds, or timezone UTC, where no clock changes"
    )


def _repeated(effect: ClockEffect, timezone: str) -> Iterator[Note]:
    for at in effect.instants:
        which = "the second time" if at.astimezone(ZoneInfo(timezone)).fold else "the first time"
        verb = "runs" if len(effect.instants) == 1 else "this is"
        yield Note(at, effect.local, f"{_clock(effect.local)} happens twice, {verb} {which}")


def _named(group: list[ClockEffect]) -> str:
    names = [_clock(effect.local) for effect in group]
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return ", ".join(names[:MOST_NAMED]) + more


def _clock(wall: datetime) -> str:
    return f"{wall:%H:%M:%S}" if wall.second else f"{wall:%H:%M}"
