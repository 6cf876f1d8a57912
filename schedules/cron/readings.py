"""Six fields and no dialect: both things that they may mean, each with the time at which it would run next."""

from __future__ import annotations

from typing import TYPE_CHECKING

from activities.occurrence import stamp
from schedules.cron.errors import CronError
from schedules.cron.occurrences import next_after
from schedules.recurrence import Times

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from schedules.cron.compiled import Compiled
    from schedules.cron.notation.parse import FieldCountError

ORDERS = {"quartz": "seconds first", "spring": "seconds first", "temporal": "year last"}
FIVE_FIELDS = ("cron", "kubernetes")


def with_other_readings(
    error: FieldCountError, dialect: str, compiled_as: Callable[[str], Compiled], after: datetime
) -> CronError:
    """The error, and for six or seven fields what the dialects that have so many would make of them."""
    if dialect not in FIVE_FIELDS or error.count < 6:  # noqa: PLR2004  five and fewer have no other reading
        return error
    names: dict[str, list[str]] = {}
    for name, order in ORDERS.items():
        if when := _next(name, compiled_as, after):
            names.setdefault(f"({order}: {when})", []).append(name)
    readings = [f"dialect {' or '.join(alike)} {reading}" for reading, alike in names.items()]
    suggestion = f"did you mean {' or '.join(readings)}?" if readings else ""
    if not readings and dialect == "cron":
        suggestion = "is the last word a user name? leave it out"
    return CronError(error.problem, allowed=error.allowed, suggestion=suggestion, position=error.position)


def _next(name: str, compiled_as: Callable[[str], Compiled], after: datetime) -> str:
    """When it would run next in that dialect, empty where the dialect refuses it."""
    try:
        compiled = compiled_as(name)
    except CronError:
        return ""
    found = next_after(
        Times(compiled.timezone, compiled.calendars, compiled.intervals, compiled.exclusions, end_at=compiled.end_at),
        after,
    )
    return f"next at {stamp(found)}" if found else "never"
