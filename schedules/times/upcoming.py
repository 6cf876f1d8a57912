"""The next times of a schedule, exact however far ahead: compiled again where what was compiled stops being exact."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedules.cron import Occurrences
from schedules.cron.offsets import LAST_YEAR

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from datetime import datetime

    from schedules.recurrence import Times

    CompileAt = Callable[[datetime], tuple[Times, datetime | None]]


def upcoming(compile_at: CompileAt, after: datetime) -> Iterator[datetime]:
    """The times strictly after an aware instant, in UTC.

    `compile_at` gives the times as compiled at an instant, and the instant from which they are not exact (None: never).
    """
    times, until = compile_at(after)
    occurrences = Occurrences(times)
    while (found := occurrences.next_after(after)) is not None or until is not None:
        if until is not None and until.year <= LAST_YEAR and (found is None or found >= until):
            times, later = compile_at(until)
            occurrences = Occurrences(times)
            until = later if later is None or later > until else None
        elif found is None:
            return
        else:
            yield found
            after = found
