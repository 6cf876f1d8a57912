"""The subject of `next`: something that compiles, and all that is needed to explain its times."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from schedules.cron import CronError, compile_cron
from schedules.cron.compiled import Policy
from schedules.cron.notation.parse import parse
from schedules.cron.pattern import Pattern
from schedules.errors import SettingsError
from schedules.recurrence import Times
from schedules.text.zone import check_timezone
from schedules.times.horizon import horizon

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import date, datetime

    from schedules.cron import Compiled, Gap, Repeat
    from schedules.cron.pattern import Parsed
    from schedules.times.upcoming import CompileAt

HASHED = "H and ~ depend on project and job: these are the times of no job in particular"


class CronText(NamedTuple):
    """An expression and how it is read."""

    expression: str
    dialect: str = "cron"
    hash_key: str = ""

    def parsed(self) -> Parsed:
        """What it says. Raises CronError."""
        return parse(self.expression, self.dialect, self.hash_key)


class Asked(NamedTuple):
    """`label` is what was written, `crons` its cron expressions, `policy` what clock changes do to them.

    With `by_calendar`, days are left out or moved, so that not all that the expressions say happens. `left_out` are the
    days, as compiled at an instant, on which a change of clocks has too many runs.
    """

    label: str
    timezone: str
    policy: Policy
    crons: tuple[CronText, ...]
    compile_at: CompileAt
    left_out: Callable[[datetime], tuple[date, ...]]
    notes: tuple[str, ...] = ()
    by_calendar: bool = False


def asked_expression(expression: str, *, dialect: str, timezone: str, gap: Gap, repeat: Repeat, now: datetime) -> Asked:
    """A bare expression. Raises SettingsError where it cannot be read; `now` dates what else it could have meant."""

    def compiled(start: datetime, end: datetime) -> Compiled:
        return compile_cron(
            expression, timezone=timezone, dialect=dialect, gap=gap, repeat=repeat, horizon_start=start, horizon_end=end
        )

    def compile_at(since: datetime) -> tuple[Times, datetime | None]:
        found = compiled(*horizon(since))
        return Times(found.timezone, found.calendars, found.intervals, end_at=found.end_at), found.exact_until

    try:
        check_timezone(timezone)
    except ValueError as error:
        raise SettingsError(f"--timezone: {error}") from None
    try:
        compiled(now, now)
    except CronError as error:
        raise SettingsError(_pointed_at(expression, error)) from None
    parsed = parse(expression, dialect)
    try:
        check_timezone((isinstance(parsed, Pattern) and parsed.timezone) or timezone)
    except ValueError as error:
        raise SettingsError(f"--cron: {error}") from None
    hashed = any(parse(expression, dialect, key) != parsed for key in ("a", "b", "c"))
    return Asked(
        label=expression.strip(),
        timezone=parsed.timezone if isinstance(parsed, Pattern) and parsed.timezone else timezone,
        policy=Policy(gap, repeat),
        crons=(CronText(expression, dialect),),
        compile_at=compile_at,
        left_out=lambda since: compiled(*horizon(since)).left_out,
        notes=(HASHED,) if hashed else (),
    )


def _pointed_at(expression: str, error: CronError) -> str:
    if error.field == "dialect":
        return f"--dialect: {str(error).removeprefix('dialect: ')}"
    pointer = "" if error.position is None else f"\n    {expression}\n    {' ' * error.position}^"
    return f"--cron: {error}{pointer}"
