"""From the text of an expression to what it says.

croniter is not asked: it takes `*/2` in a day field for a restriction (Vixie's star rule says otherwise), writes the last
Friday as `L5`, knows one dialect, and answers with times where fields are needed.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from schedules.cron.errors import CronError
from schedules.cron.masks import members
from schedules.cron.notation import units
from schedules.cron.notation.celery import call_fields, is_call
from schedules.cron.notation.cells import Cell
from schedules.cron.notation.dayfields import DayCells
from schedules.cron.notation.dialects import MACROS, dialect_named
from schedules.cron.notation.distance import every_of
from schedules.cron.notation.eventbridge import unwrapped
from schedules.cron.notation.fields import Reader
from schedules.cron.offsets import FIRST_YEAR, LAST_YEAR
from schedules.cron.pattern import Pattern, Reboot

if TYPE_CHECKING:
    from schedules.cron.notation.dialects import Dialect
    from schedules.cron.notation.units import Unit
    from schedules.cron.pattern import Parsed

SERVER_YEARS = frozenset(range(FIRST_YEAR, LAST_YEAR + 1))
STARS = ("*", "?", "/")  # `?` is robfig's other star, `/5` Quartz's `*/5`
LONGEST = 1000  # characters; the work to read an expression grows with them


class FieldCountError(CronError):
    """The number of fields is none that the dialect knows."""

    def __init__(self, cells: tuple[Cell, ...], dialect: Dialect, at: int) -> None:
        self.count = len(cells)
        layouts = " or ".join(_layout(fields) for fields in dialect.layouts.values())
        noun = "field" if self.count == 1 else "fields"
        super().__init__(f"{self.count} {noun} in dialect {dialect.name}", allowed=layouts, position=at)


def _layout(fields: tuple[Unit, ...]) -> str:
    return f"{len(fields)} fields ({' '.join(unit.name for unit in fields)})"


@lru_cache(maxsize=4096)
def parse(expression: str, dialect: str = "cron", hash_key: str = "") -> Parsed:
    """What an expression says in a dialect; CronError tells what is wrong with it."""
    rules = dialect_named(dialect)
    if len(expression) > LONGEST:
        raise CronError(
            f"{len(expression)} characters", allowed=f"at most {LONGEST}", suggestion="split it into several schedules"
        )
    inner = unwrapped(Cell(expression, 0)) if rules.name == "eventbridge" else Cell(expression, 0)
    return _parsed(inner, rules, hash_key) if isinstance(inner, Cell) else inner


def _parsed(whole: Cell, rules: Dialect, hash_key: str) -> Parsed:
    if rules.name == "celery" and is_call(whole):
        return _pattern(call_fields(whole), rules, None, hash_key)
    zone, rest = _zone_prefix(whole, rules)
    words = _without_comment(rest.words(), rules)
    if not words:
        raise CronError("the expression is empty", allowed=_layout(next(iter(rules.layouts.values()))), position=0)
    if words[0].text.startswith("@"):
        return _named(words, rules, zone, hash_key)
    return _pattern(words, rules, zone, hash_key)


def _without_comment(words: tuple[Cell, ...], rules: Dialect) -> tuple[Cell, ...]:
    """The words before a comment, which the server allows; one inside a word is most likely not meant as such."""
    if rules.name != "temporal":
        return words
    for index, word in enumerate(words):
        before, after = word.partition("#")
        if after is not None and before.text:
            raise CronError(
                f"{word.text!r}: the server takes # for the start of a comment",
                value=word.text,
                suggestion="leave it out, or use dialect cron, where 1#2 is the second Monday",
                position=word.at,
            )
        if after is not None:
            return words[:index]
    return words


def _zone_prefix(whole: Cell, rules: Dialect) -> tuple[str | None, Cell]:
    if not whole.text.lstrip().startswith(("CRON_TZ=", "TZ=")):
        return None, whole
    first = whole.words()[0]
    if not rules.zone_prefix:
        raise CronError(
            f"{first.text} has no place in dialect {rules.name}",
            suggestion="give the timezone beside it",
            position=first.at,
        )
    name = first.text.partition("=")[2]
    if not name:
        raise CronError("the timezone is missing", field="timezone", value=first.text, position=first.at)
    return name, whole.after(first.at + len(first.text))


def _named(words: tuple[Cell, ...], rules: Dialect, zone: str | None, hash_key: str) -> Parsed:
    name = words[0]
    written = name.text if rules.small_names else name.text.lower()
    if rules.every and written == "@every":
        return every_of(words, rules)
    macros = rules.macros or {}
    if written == "@reboot" and rules.name == "cron" and len(words) == 1:
        return Reboot()
    if written == "@reboot":
        raise CronError(
            "@reboot is a name of dialect cron alone",
            value=name.text,
            suggestion="write it without a dialect and with nothing after it",
            position=name.at,
        )
    text = macros.get(written)
    if text is None or len(words) > 1:
        raise _unknown_name(words, rules)
    return _pattern(Cell(text, name.at).words(), rules, zone, hash_key)


def _unknown_name(words: tuple[Cell, ...], rules: Dialect) -> CronError:
    macros = rules.macros or {}
    written = " ".join(word.text for word in words)
    meant = macros.get(written.lower()) or MACROS.get(written.lower())
    suggestion = f"write {written.lower() if macros else _in_fields(meant, rules)}" if meant else ""
    return CronError(
        f"{written!r} is no name in dialect {rules.name}",
        value=written,
        allowed=", ".join((*macros, *(("@every 5m",) if rules.every else ()))),
        suggestion=suggestion,
        position=words[0].at,
    )


def _in_fields(text: str, rules: Dialect) -> str:
    """Five fields as a dialect without names writes them; where one day field is `?`, it is the one that does not matter."""
    minute, hour, day, month, weekday = text.split()
    if rules.day_rule != "one_question_mark":
        return text
    day, weekday = ("?", str(int(weekday) + 1)) if weekday != "*" else (day, "?")
    return (
        f"{'0 ' if units.SECOND in min(rules.layouts.values(), key=len) else ''}{minute} {hour} {day} {month} {weekday}"
    )


def _pattern(words: tuple[Cell, ...], rules: Dialect, zone: str | None, hash_key: str) -> Pattern:
    layout = rules.layouts.get(len(words))
    if layout is None:
        raise FieldCountError(words, rules, words[0].at)
    cells = {unit.name: (Reader(unit, rules, hash_key), cell) for unit, cell in zip(layout, words, strict=True)}

    def mask(unit: Unit) -> int:
        reader, cell = cells[unit.name]
        return reader.field(cell)

    years = members(mask(units.YEAR)) if units.YEAR.name in cells else None
    days = DayCells(*cells[units.DAY_OF_MONTH.name], *cells[units.WEEKDAY.name])
    return Pattern(
        seconds=mask(units.SECOND) if units.SECOND.name in cells else 1,
        minutes=mask(units.MINUTE),
        hours=mask(units.HOUR),
        days=days.rects(mask(units.MONTH)),
        years=None if years is None or len(years) == layout[-1].size else frozenset(years) & SERVER_YEARS,
        real_time=any(cells[unit.name][1].text.startswith(STARS) for unit in (units.MINUTE, units.HOUR)),
        timezone=zone,
    )
