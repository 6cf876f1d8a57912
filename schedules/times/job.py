"""From a job's schedule entries, clock policy and calendars to the times that its Temporal Schedule has."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from schedules.cron import CronError
from schedules.cron.emit import COMMENT
from schedules.cron.exclusions import single_instants, sparing
from schedules.cron.offsets import FIRST_YEAR
from schedules.cron.reboot import mark_first
from schedules.model import Times
from schedules.spec.calendars import NO_CALENDARS, CalendarSet
from schedules.spec.describe import calendars_text
from schedules.spec.entries import CronEntry
from schedules.times.calendars import ALL_WEEKDAYS, Calendars
from schedules.times.day_rule import day_rule
from schedules.times.entries import EntryCompiler
from schedules.times.horizon import horizon, new_year
from schedules.times.moment import local_moment

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import date

    from schedules.cron import Compiled
    from schedules.cron.pattern import Pattern
    from schedules.model import Calendar
    from schedules.spec.job import JobSpec
    from schedules.times.day_rule import DayRule

SECOND = timedelta(seconds=1)


@dataclass(frozen=True, slots=True)
class JobTimes:
    """What a job's schedule compiles to, and how far it is exact.

    From `clocks_until` on clock changes are taken literally, from `calendars_until` on no holidays are known; None where
    neither matters to the job. Compiling again in a later year moves both. For `left_out` see `Compiled`.
    `on_days` are the times of moved runs and of business days, each with the place of its entry.
    """

    times: Times
    clocks_until: datetime | None = None
    calendars_until: datetime | None = None
    left_out: tuple[date, ...] = ()
    on_days: tuple[tuple[int, Pattern], ...] = ()

    @property
    def exact_until(self) -> datetime | None:
        """The first instant from which the times may differ from what the spec means."""
        return min((end for end in (self.clocks_until, self.calendars_until) if end), default=None)


def job_times(job: JobSpec, project: str, now: datetime, calendars: CalendarSet = NO_CALENDARS) -> JobTimes:
    """The union of the job's entries; two that name the same moment fire once. `now` decides only the horizon's year.

    Raises CronError where an entry cannot be read, or where entries do not fit together.
    """
    return _compiler(project, *horizon(now), calendars).compile(job)


@lru_cache(maxsize=64)
def _compiler(project: str, start: datetime, end: datetime, calendars: CalendarSet) -> _Compiler:
    return _Compiler(project, start, end, calendars)


class _Compiler:
    """Compiles the jobs of one file.

    Calendars hold for the year before as well: January's first run may ask for the one before it.
    """

    def __init__(self, project: str, start: datetime, end: datetime, calendars: CalendarSet) -> None:
        """The names in `calendars` are known, and go round in no circle."""
        self._project = project
        self._horizon = (start, end)
        self._years = (max(start.year - 1, FIRST_YEAR), end.year)
        beyond = self._years[1] + 1  # a run that is moved back over New Year starts there
        days = Calendars(calendars.specs, self._years[0], beyond)
        self._rule = lru_cache(maxsize=None)(lambda only, without: day_rule(days, only, without))

    def compile(self, job: JobSpec) -> JobTimes:
        """See `job_times`."""
        rule = self._rule(job.only, job.without)
        entries = EntryCompiler(job, self._project, rule, self._horizon, self._years)
        parts = [(index, part) for index, entry in enumerate(job.schedule) for part in entries.compile(entry)]
        compiled = [part for _, part in parts]
        zone = _one_zone({part.timezone for part in compiled if part.calendars or rule.excluded}, job.timezone)
        unknown = new_year(self._years[1] + 1, zone)
        intervals = tuple(dict.fromkeys(interval for part in compiled for interval in part.intervals))
        times = Times(
            timezone=zone,
            calendars=mark_first(calendar for part in compiled for calendar in part.calendars),
            intervals=intervals,
            exclusions=sparing(_exclusions(compiled, job), single_instants(intervals), zone),
            start_at=_start(job),
            end_at=_end(compiled, unknown - SECOND if rule.ends else None),
            jitter=int(job.jitter.total_seconds()),
        )
        return JobTimes(
            times,
            clocks_until=min((part.exact_until for part in compiled if part.exact_until), default=None),
            calendars_until=None if rule.allowed.complete and not _moves_go_on(job, rule) else unknown,
            left_out=tuple(sorted({day for part in compiled for day in part.left_out})),
            on_days=tuple((index, part.pattern) for index, part in parts if part.pattern),
        )


def _moves_go_on(job: JobSpec, rule: DayRule) -> bool:
    """Whether runs fall on weekdays that are always excluded, from which only those of the horizon are moved."""
    moving = job.on_holiday != "skip" and any(isinstance(entry, CronEntry) for entry in job.schedule)
    return moving and rule.allowed.weekdays != ALL_WEEKDAYS and not rule.ends


def _exclusions(parts: Sequence[Compiled], job: JobSpec) -> tuple[Calendar, ...]:
    comment = calendars_text(job).removeprefix(", ")[:COMMENT]
    found = dict.fromkeys(calendar for part in parts for calendar in part.exclusions)
    return tuple(replace(calendar, comment=comment) for calendar in found)


def _start(job: JobSpec) -> datetime | None:
    """The instant before which the job does not run; of a local time that happens twice the first."""
    if job.start_at is None or job.start_at.tzinfo:
        return job.start_at and job.start_at.astimezone(UTC)
    return local_moment(job.start_at, ZoneInfo(job.timezone)).instants[0]


def _one_zone(zones: set[str], otherwise: str) -> str:
    if len(zones) > 1:
        raise CronError(
            f"the entries name the zones {' and '.join(sorted(zones))}; write one zone, or one job for each"
        )
    return next(iter(zones), otherwise)


def _end(parts: Sequence[Compiled], known: datetime | None) -> datetime | None:
    """When all entries have come to their ends, or at the latest when no day is known any more."""
    ends = [part.end_at for part in parts if part.end_at]
    last = max(ends, default=None) if len(ends) == len(parts) else None
    return min((end for end in (last, known) if end), default=None)
