"""Parts of a pattern as calendars of the server."""

from __future__ import annotations

import calendar
from typing import TYPE_CHECKING

from schedules.cron.masks import mask_of, ranges_of
from schedules.cron.offsets import FIRST_YEAR, LAST_YEAR
from schedules.recurrence import Calendar

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from schedules.cron.carve import Part
    from schedules.cron.pattern import Pattern

COMMENT = 200  # characters, the server's limit
LISTED_YEARS = 14  # leap and common years named for February, short because the Web UI lists every one


def calendars_of(parts: Iterable[Part], pattern: Pattern, text: str, first_year: int) -> Iterator[Calendar]:
    """A calendar for each part that has years; its comment is the expression and why the part stands alone."""
    for part in parts:
        years = _years(part, first_year)
        if years is None or years:
            yield Calendar(
                second=ranges_of(pattern.seconds),
                minute=ranges_of(pattern.minutes),
                hour=ranges_of(part.hours),
                day_of_month=ranges_of(part.rect.days),
                month=ranges_of(part.rect.months),
                day_of_week=ranges_of(part.rect.weekdays),
                year=() if years is None else ranges_of(mask_of(years)),
                comment=(f"{text}: {part.note}" if part.note else text)[:COMMENT],
            )


def _years(part: Part, first_year: int) -> frozenset[int] | None:
    """The years to be listed, or None for every year; those of a certain length must always be."""
    if part.rect.years == "all":
        return part.years
    listed = (
        range(max(first_year - 1, FIRST_YEAR), min(first_year + LISTED_YEARS, LAST_YEAR + 1))
        if part.years is None
        else part.years
    )
    return frozenset(year for year in listed if calendar.isleap(year) == (part.rect.years == "leap"))
