"""`@reboot`: no time, but a mark that tells workers which schedules they are to start when a new build of them comes up.

A schedule that has nothing left to do is deleted by the server after seven days, so the mark is a time that is far away.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from activities.reboot_mark import REBOOT
from schedules.recurrence import Calendar, Range

if TYPE_CHECKING:
    from collections.abc import Iterable

    from schedules.recurrence import Times

LAST_DAY = Calendar(
    day_of_month=(Range(31, 31),),
    month=(Range(12, 12),),
    year=(Range(2099, 2099),),
    comment=f"{REBOOT}: started by workers, once for each new build; this date is only a mark",
)


_MARKED = datetime(2099, 12, 30, tzinfo=UTC)
"""The mark's day, with what may lie between a local time and UTC."""


def is_mark(calendar: Calendar) -> bool:
    """Whether a calendar stands for `@reboot`."""
    return calendar.comment.startswith(REBOOT) and calendar.year == LAST_DAY.year


def without_mark(times: Times, moments: Iterable[datetime]) -> tuple[datetime, ...]:
    """The moments at which the server is to start something, without the one that is only the mark."""
    return tuple(at for at in moments if at < _MARKED or not has_mark(times))


def has_mark(times: Times) -> bool:
    """Whether workers start it, too, when a new build of them comes up."""
    return any(map(is_mark, times.calendars))


def mark_first(calendars: Iterable[Calendar]) -> tuple[Calendar, ...]:
    """The calendars, each once; lists of schedules show ten of them, and the mark has to be among these."""
    return tuple(sorted(dict.fromkeys(calendars), key=lambda calendar: not is_mark(calendar)))
