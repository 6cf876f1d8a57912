"""Which local times of a job meet a change of clocks, and what its policy makes of them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Literal

from schedules.cron.compiled import Policy
from schedules.cron.epoch import DAY, HOUR, date_of
from schedules.cron.local import LocalPlan
from schedules.cron.notation.parse import parse
from schedules.cron.offsets import FIRST_YEAR, LAST_YEAR
from schedules.cron.pattern import Pattern
from schedules.cron.transitions import zone_nights

if TYPE_CHECKING:
    from collections.abc import Iterator

    from schedules.cron.compiled import Gap, Repeat
    from schedules.cron.transitions import Night

WALL_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001  wall-clock seconds count from it


@dataclass(frozen=True, slots=True)
class ClockEffect:
    """A local time (naive) that does not exist or happens twice, and the instants (UTC) at which the job runs for it."""

    local: datetime
    kind: Literal["missing", "repeated"]
    instants: tuple[datetime, ...]


def clock_effects(
    expression: str,
    *,
    timezone: str,
    dialect: str = "cron",
    gap: Gap = "run_after",
    repeat: Repeat = "first",
    hash_key: str = "",
    start: datetime,
    end: datetime,
) -> tuple[ClockEffect, ...]:
    """The effects of clock changes between two aware instants, ascending; CronError as in `compile_cron`.

    Empty for a job that follows real time (`*` in the minute or hour field) and for intervals and single times.
    """
    parsed = parse(expression, dialect, hash_key)
    if not isinstance(parsed, Pattern):
        return ()
    return pattern_effects(parsed, Policy(gap, repeat), timezone=timezone, start=start, end=end)


def pattern_effects(
    pattern: Pattern, policy: Policy, *, timezone: str, start: datetime, end: datetime
) -> tuple[ClockEffect, ...]:
    """The same for a pattern."""
    if pattern.real_time:
        return ()
    years = max(start.astimezone(UTC).year, FIRST_YEAR), min(end.astimezone(UTC).year, LAST_YEAR)
    plan = LocalPlan(pattern, policy, zone_nights(pattern.timezone or timezone, *years), *years)
    nights = (night for night in plan.nights.each if start.timestamp() <= night.at < end.timestamp())
    return tuple(effect for night in nights for effect in _effects(plan, night))


def _effects(plan: LocalPlan, night: Night) -> Iterator[ClockEffect]:
    for hour in range(night.low // HOUR, -(-night.high // HOUR)):
        day, hour_of_day = divmod(hour, 24)
        if plan.pattern.hours >> hour_of_day & 1 and plan.holds(date_of(day)):
            for wall in plan.walls(day, 1 << hour_of_day):
                if night.low <= wall < night.high:
                    instants = tuple(datetime.fromtimestamp(each, UTC) for each in sorted(plan.resolve(wall)))
                    local = WALL_EPOCH + timedelta(days=day, seconds=wall - day * DAY)
                    yield ClockEffect(local, "missing" if night.gap else "repeated", instants)
