"""EventBridge's three forms: `cron(…)`, `rate(…)` and `at(…)` (AWS: "Schedule types in EventBridge Scheduler")."""

from __future__ import annotations

import re
from datetime import datetime

from schedules.cron.errors import CronError
from schedules.cron.notation.cells import Cell
from schedules.cron.notation.distance import every
from schedules.cron.pattern import Every, Once

_FORM = re.compile(r"\s*(cron|rate|at)\((.*)\)\s*", re.ASCII | re.DOTALL)
_RATE = re.compile(r"\s*(\d{1,9})\s+(minute|hour|day)(s?)\s*", re.ASCII)
_AT = re.compile(r"\s*(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)\s*", re.ASCII)
SECONDS = {"minute": 60, "hour": 3600, "day": 86400}


def unwrapped(whole: Cell) -> Cell | Every | Once:
    """The fields inside `cron(…)`, also where they stand bare, or what `rate(…)` or `at(…)` says."""
    found = _FORM.fullmatch(whole.text)
    if found is None:
        if len(whole.words()) == 1:
            raise CronError(
                f"{whole.text.strip()!r} is no schedule of EventBridge",
                value=whole.text.strip(),
                allowed="cron(minute hour day-of-month month day-of-week year), rate(5 minutes), at(2027-03-01T09:00:00)",
                position=0,
            )
        return whole
    inner = Cell(found[2], whole.at + found.start(2))
    if found[1] == "rate":
        return _rate(inner)
    return _at(inner) if found[1] == "at" else inner


def _rate(inner: Cell) -> Every:
    found = _RATE.fullmatch(inner.text)
    allowed = "a whole number and minute, minutes, hour, hours, day or days"
    if found is None or int(found[1]) == 0:
        raise CronError(
            f"{inner.text!r} is no rate", field="rate", value=inner.text, allowed=allowed, position=inner.at
        )
    if (int(found[1]) == 1) == bool(found[3]):
        right = f"rate({found[1]} {found[2]}{'' if int(found[1]) == 1 else 's'})"
        raise CronError(
            f"{inner.text.strip()!r} is refused by EventBridge",
            field="rate",
            value=inner.text,
            suggestion=f"write {right}",
            position=inner.at,
        )
    return every(int(found[1]) * SECONDS[found[2]], 0, inner.at)


def _at(inner: Cell) -> Once:
    found = _AT.fullmatch(inner.text)
    try:
        if found:
            return Once(datetime.fromisoformat(found[1]))
    except ValueError:  # a day or an hour that no calendar has
        pass
    raise CronError(
        f"{inner.text!r} is no time",
        field="at",
        value=inner.text,
        allowed="as in 2027-03-01T09:00:00",
        position=inner.at,
    )
