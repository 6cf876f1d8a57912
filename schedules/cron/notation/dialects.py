"""Dialects of cron text: the syntax and the meaning of each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from schedules.cron.errors import CronError
from schedules.cron.notation import units

if TYPE_CHECKING:
    from collections.abc import Mapping

    from schedules.cron.notation.units import Unit

DayRule = Literal["star_prefix", "star_exact", "and", "one_question_mark"]

FIRST_FOUR = (units.MINUTE, units.HOUR, units.DAY_OF_MONTH, units.MONTH)
SECONDS_FIRST = (units.SECOND, *FIRST_FOUR)
ON_SERVER = (units.MINUTE, units.HOUR, units.DAY_OF_MONTH, units.MONTH_ON_SERVER)

MACROS = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}
SPRING_MACROS = {name: f"0 {text}" for name, text in MACROS.items()}


@dataclass(frozen=True, slots=True, eq=False)
class Dialect:
    """One dialect. `layouts` are its fields by their number; `day_rule` says how the two day fields combine.

    star_prefix: both must match if either starts with `*`, else either one suffices (Vixie cron, `entry.c`).
    star_exact: the same for `*` and `?` with no step above 1 (robfig/cron v3, `parser.go`).
    and: both must match. one_question_mark: one of them is `?` and the other decides (Quartz, EventBridge).
    """

    name: str
    layouts: Mapping[int, tuple[Unit, ...]]
    day_rule: DayRule
    start_step: bool = False  # `5/15` is 5, 20, 35, 50
    wraps: bool = False  # `22-2` is 22, 23, 0, 1, 2
    question_mark: Literal["nowhere", "days", "anywhere"] = "nowhere"  # `?` for `*`
    picks: bool = False  # L, W and # in the day fields
    hashes: bool = False  # H and ~
    every: bool = False  # @every 5m
    go_durations: bool = False  # no days and no offset after @every
    small_names: bool = False  # @daily but not @Daily
    zone_prefix: bool = False  # CRON_TZ=… and TZ=…
    macros: Mapping[str, str] | None = None
    last_weekday_alone: bool = False  # a bare L in the day-of-week field is Saturday


CRON = Dialect(
    "cron",
    {5: (*FIRST_FOUR, units.WEEKDAY)},
    "star_prefix",
    wraps=True,
    question_mark="days",
    picks=True,
    hashes=True,
    every=True,
    zone_prefix=True,
    macros=MACROS,
)
QUARTZ = Dialect(
    "quartz",
    {6: (*SECONDS_FIRST, units.WEEKDAY_FROM_1), 7: (*SECONDS_FIRST, units.WEEKDAY_FROM_1, units.YEAR)},
    "one_question_mark",
    start_step=True,
    wraps=True,
    question_mark="days",
    picks=True,
    last_weekday_alone=True,
)
SPRING = Dialect(
    "spring",
    {6: (*SECONDS_FIRST, units.WEEKDAY_IN_SPRING)},
    "and",
    start_step=True,
    question_mark="days",
    picks=True,
    macros=SPRING_MACROS,
)
KUBERNETES = Dialect(
    "kubernetes",
    {5: (*FIRST_FOUR, units.WEEKDAY_TO_6)},
    "star_exact",
    start_step=True,
    question_mark="anywhere",
    every=True,
    go_durations=True,
    small_names=True,
    zone_prefix=True,
    macros=MACROS,
)
EVENTBRIDGE = Dialect(
    "eventbridge",
    {6: (*FIRST_FOUR, units.WEEKDAY_FROM_1, units.YEAR_TO_2199)},
    "one_question_mark",
    start_step=True,
    question_mark="days",
    picks=True,
    last_weekday_alone=True,
)
CELERY = Dialect("celery", {5: (*FIRST_FOUR, units.WEEKDAY_IN_CELERY)}, "and", wraps=True)
TEMPORAL = Dialect(
    "temporal",
    {
        5: (*ON_SERVER, units.WEEKDAY_ON_SERVER),
        6: (*ON_SERVER, units.WEEKDAY_ON_SERVER, units.YEAR_ON_SERVER),
        7: (units.SECOND, *ON_SERVER, units.WEEKDAY_ON_SERVER, units.YEAR_ON_SERVER),
    },
    "and",
    start_step=True,
    every=True,
    small_names=True,
    zone_prefix=True,
    macros=MACROS,
)

ALL = (CRON, QUARTZ, SPRING, KUBERNETES, EVENTBRIDGE, CELERY, TEMPORAL)
DIALECTS: dict[str, Dialect] = {dialect.name: dialect for dialect in ALL}


def dialect_named(name: str) -> Dialect:
    """The dialect of that name; CronError names the known ones."""
    try:
        return DIALECTS[name]
    except KeyError:
        raise CronError(f"{name!r} is no dialect", field="dialect", value=name, allowed=", ".join(DIALECTS)) from None
