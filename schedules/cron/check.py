"""Whether cron text can be read, asked once for each text."""

from __future__ import annotations

from datetime import datetime
from functools import lru_cache

from schedules.cron import CronError, compile_cron
from schedules.cron.notation.parse import FieldCountError, parse
from schedules.cron.pattern import Pattern
from schedules.text.zone import check_timezone


def check_cron(expression: str, dialect: str, now: datetime | None) -> None:
    """Raises CronError; with `now` (aware), one about the number of fields tells when the other readings would run next."""
    problem = _problem_of(expression, dialect)
    if problem is None:
        return
    if isinstance(problem, FieldCountError) and now is not None:
        compile_cron(expression, timezone="UTC", dialect=dialect, horizon_start=now, horizon_end=now)
    raise problem


@lru_cache(maxsize=10_000)
def _problem_of(expression: str, dialect: str) -> CronError | None:
    try:
        parsed = parse(expression, dialect)
        if isinstance(parsed, Pattern) and parsed.timezone:
            check_timezone(parsed.timezone)
    except CronError as error:
        return error
    except ValueError as error:  # of the timezone
        return CronError(str(error))
    return None
