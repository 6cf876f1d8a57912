"""The times at which a schedule was really due: by the spec of each moment, and not while it was paused. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import MAXYEAR, timedelta
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from datetime import datetime

JUST_AFTER = timedelta(microseconds=1)


class Occurrences(Protocol):
    """A schedule's times, as aware datetimes in UTC."""

    def next_after(self, after: datetime) -> datetime | None:
        """The first time strictly after an instant."""

    def previous_before(self, before: datetime) -> datetime | None:
        """The last time strictly before an instant."""

    def count_between(self, start: datetime, end: datetime) -> int:
        """How many times there are from start up to, and not including, end."""


@dataclass(frozen=True, slots=True)
class Span:
    """From after `begin` up to `end` the schedule fired at these times."""

    begin: datetime
    end: datetime
    occurrences: Occurrences


@dataclass(frozen=True, slots=True)
class DueTimes:
    """The times of spans that follow each other, oldest first."""

    spans: Sequence[Span]

    def next_after(self, after: datetime) -> datetime | None:
        """The first time strictly after an instant."""
        for span in self.spans:
            at = span.occurrences.next_after(max(after, span.begin))
            if at is not None and at <= span.end:
                return at
        return None

    def previous_before(self, before: datetime) -> datetime | None:
        """The last time strictly before an instant."""
        for span in reversed(self.spans):
            at = span.occurrences.previous_before(min(before, _after(span.end)))
            if at is not None and at > span.begin:
                return at
        return None

    def count_between(self, start: datetime, end: datetime) -> int:
        """How many times there are from start up to, and not including, end."""
        found = 0
        for span in self.spans:
            first, last = max(start, _after(span.begin)), min(end, _after(span.end))
            found += span.occurrences.count_between(first, last) if first < last else 0
        return found


def between(occurrences: Occurrences, start: datetime, end: datetime) -> Iterator[datetime]:
    """The times from start up to, and not including, end."""
    at = occurrences.next_after(start - JUST_AFTER)
    while at is not None and at < end:
        yield at
        at = occurrences.next_after(at)


def is_among(at: datetime, occurrences: Occurrences) -> bool:
    """Whether an instant of whole seconds is one of the times."""
    return occurrences.next_after(at - JUST_AFTER) == at


def without(spans: Iterable[Span], pauses: Iterable[tuple[datetime, datetime]]) -> list[Span]:
    """The spans without what lies in pauses, each of which is given by its begin and end."""
    found = list(spans)
    for begin, end in pauses:
        left: list[Span] = []
        for span in found:
            if span.begin < min(begin, span.end):
                left.append(Span(span.begin, min(begin, span.end), span.occurrences))
            if max(end, span.begin) < span.end:
                left.append(Span(max(end, span.begin), span.end, span.occurrences))
        found = left
    return found


def _after(at: datetime) -> datetime:
    return at if at.year == MAXYEAR else at + JUST_AFTER
