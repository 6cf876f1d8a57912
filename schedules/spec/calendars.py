"""Named calendars of a spec file: sets of local dates that jobs run on, or keep away from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from typing import TYPE_CHECKING, Annotated, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Field, PlainSerializer, WithJsonSchema, model_validator

from schedules.spec.fields import FieldError, Items, SomeItems, Spec
from schedules.spec.holidays import check_country, check_subdivision
from schedules.text.nearest import suggestion
from schedules.text.shown import shown

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import date

DATES = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}(\.\.[0-9]{4}-[0-9]{2}-[0-9]{2})?$"
LONGEST_RANGE = timedelta(days=3_660)
KINDS = ("dates", "holidays", "weekdays")
Weekday = Literal["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
WEEKDAYS: tuple[Weekday, ...] = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
Span = tuple[date, date]


def _span_from_text(value: object) -> object:
    if isinstance(value, date):
        return value, value
    if not isinstance(value, str):
        return value
    first, _, last = value.partition("..")
    try:
        span = date.fromisoformat(first), date.fromisoformat(last or first)
    except ValueError:
        raise ValueError(
            f"{shown(value)} is neither a date nor a range; write for example 2027-12-24 or 2027-12-24..2027-12-26"
        ) from None
    return span


def _check_span(span: Span) -> Span:
    first, last = span
    if last < first:
        raise ValueError(f"{first}..{last} ends before it begins; write {last}..{first}")
    if last - first > LONGEST_RANGE:
        raise ValueError(f"{first}..{last} is longer than {LONGEST_RANGE.days} days; use `weekdays`, or shorter ranges")
    return span


def _span_text(span: Span) -> str:
    first, last = span
    return f"{first}" if first == last else f"{first}..{last}"


Dates = Annotated[
    Span,
    BeforeValidator(_span_from_text),
    AfterValidator(_check_span),
    PlainSerializer(_span_text, return_type=str),
    WithJsonSchema({"type": "string", "pattern": DATES}),
]


class CalendarSpec(Spec):
    """A set of local dates: exactly one of `dates`, `holidays` and `weekdays`."""

    dates: SomeItems[Dates] | None = Field(
        default=None,
        description="Dates and ranges of dates, both ends included.",
        examples=[["2027-12-24", "2027-12-30..2028-01-02"]],
    )
    holidays: Annotated[str, AfterValidator(check_country)] | None = Field(
        default=None,
        description="Public holidays of a country (ISO code) or of a market (`NYSE`, `ECB`), with the days on which "
        "they are observed instead, from the package `holidays`.",
        examples=["US"],
    )
    subdivision: str | None = Field(
        default=None, description="State, province or region of the country, by its ISO code.", examples=["NY"]
    )
    weekdays: SomeItems[Weekday] | None = Field(
        default=None, description="Days of the week.", examples=[["mon", "tue", "wed", "thu", "fri"]]
    )
    without: Items[str] = Field(
        default=(), alias="except", description="Calendars of the same file whose days are excluded."
    )

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        given = [f"`{kind}`" for kind in KINDS if getattr(self, kind) is not None]
        if not given:
            raise ValueError(f"has no days; write one of {', '.join(KINDS)}")
        if len(given) > 1:
            raise ValueError(f"has {' and '.join(given)}; keep one, and make another calendar for each of the others")
        return self

    @model_validator(mode="after")
    def _known_subdivision(self) -> Self:
        if self.subdivision is not None:
            if self.holidays is None:
                raise FieldError("subdivision", "goes with `holidays` only; remove it")
            try:
                check_subdivision(self.holidays, self.subdivision)
            except ValueError as error:
                raise FieldError("subdivision", str(error)) from None
        return self


@dataclass(frozen=True, eq=False)
class CalendarSet:
    """The calendars of one file, and the jobs that may name them."""

    file: str
    specs: Mapping[str, CalendarSpec]
    jobs: frozenset[str] = frozenset()


NO_CALENDARS = CalendarSet("", {})


def calendar_faults(calendars: Mapping[str, CalendarSpec]) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Unknown names and cycles among calendars, each as the path below `calendars` and a message."""
    for name, calendar in calendars.items():
        for index, other in enumerate(calendar.without):
            if other not in calendars:
                yield (name, "except", index), unknown_calendar(other, calendars)
            elif (chain := _way(other, name, calendars)) and name == min(chain):
                cycle = " → ".join(f"`{each}`" for each in (name, *chain))
                yield (name, "except", index), f"is a circle: {cycle}; remove one of these"


def unknown_calendar(name: str, calendars: Iterable[str]) -> str:
    """The message about a name that no calendar of the file has."""
    return f"{shown(name)} is not a calendar of this file; {suggestion(name, calendars, 'calendars')}"


def _way(start: str, goal: str, calendars: Mapping[str, CalendarSpec]) -> tuple[str, ...]:
    """The names from one calendar to another along `except`, none where there is no way."""
    ways: list[tuple[str, ...]] = [(start,)]
    seen: set[str] = set()
    while ways:
        way = ways.pop()
        if way[-1] == goal:
            return way
        if way[-1] in calendars and way[-1] not in seen:
            seen.add(way[-1])
            ways += [(*way, other) for other in calendars[way[-1]].without]
    return ()


OnHoliday = Literal["skip", "next_business_day", "previous_business_day"]

NEXT: OnHoliday = "next_business_day"

PREVIOUS: OnHoliday = "previous_business_day"
