"""One field of an expression: from its text to a set of numbers."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from schedules.cron.errors import CronError
from schedules.cron.masks import mask_of
from schedules.cron.notation import units
from schedules.cron.notation.cells import Cell
from schedules.cron.notation.hashing import hashed, is_hashed, may_be_hashed

if TYPE_CHECKING:
    from schedules.cron.notation.dialects import Dialect
    from schedules.cron.notation.units import Unit


class Reader(NamedTuple):
    """How to read a field: its unit, the dialect, and the key of hashed values."""

    unit: Unit
    dialect: Dialect
    hash_key: str

    def field(self, cell: Cell) -> int:
        """The mask of a whole field, a list of items with commas."""
        mask = None if self.dialect.hashes and may_be_hashed(cell.text) else _known(self.unit, self.dialect, cell.text)
        return self.list_of_items(cell) if mask is None else mask

    def list_of_items(self, cell: Cell) -> int:
        """The same, read from the text in any case."""
        mask = 0
        for item in cell.split(","):
            mask |= self.item(item)
        return mask

    def item(self, cell: Cell) -> int:
        """The mask of one item: `*`, a value, a range, each with or without a step, or a hashed one."""
        if not cell.text:
            raise self.error("an empty item", cell, "remove the comma that is too many")
        if self.dialect.hashes and is_hashed(cell.text):
            return hashed(self, cell)
        base, step_cell = cell.partition("/")
        step = 1 if step_cell is None else self.step(step_cell, cell)
        return mask_of(self.unit.meaning(number) for number in self._numbers(base, step, stepped=step_cell is not None))

    @property
    def _question_mark(self) -> bool:
        where = self.dialect.question_mark
        return where == "anywhere" or (where == "days" and self.unit.name in units.DAY_FIELDS)

    def _numbers(self, base: Cell, step: int, *, stepped: bool) -> range | list[int]:
        unit = self.unit
        if base.text == "*" or (base.text == "?" and self._question_mark):
            return range(unit.first, unit.high + 1, step)
        if not base.text and stepped and self.dialect.start_step:  # Quartz: `/15` is `0/15`
            return range(unit.first, unit.high + 1, step)
        first, last = base.partition("-")
        low = self.number(first)
        if last is not None:
            return self._range(low, self.number(last), step, base)
        if not stepped:
            return [low]
        if not self.dialect.start_step:
            raise self.error(
                f"{base.text}/{step} has a step without a range", base, f"write {base.text}-{unit.high}/{step}"
            )
        return range(low, unit.high + 1, step)

    def _range(self, low: int, high: int, step: int, base: Cell) -> range | list[int]:
        unit = self.unit
        if unit.monday_first and low == unit.modulo:
            low = 0
        if high >= low:
            return range(low, high + 1, step)
        if unit.modulo and unit.meaning(low) <= unit.meaning(high):  # 7-2 is Sunday to Tuesday
            return range(unit.meaning(low) - unit.shift, high + 1, step)
        if not self.dialect.wraps:
            suggestion = f"write {low}-{unit.low + unit.size - 1},{unit.low}-{high}"
            raise self.error(f"{base.text} begins after its end", base, suggestion)
        return [unit.low + (number - unit.low) % unit.size for number in range(low, high + unit.size + 1, step)]

    def step(self, cell: Cell, item: Cell) -> int:
        """A step: a number from 1 on."""
        if not (cell.text.isascii() and cell.text.isdigit()) or int(cell.text) == 0:
            raise CronError(
                f"{item.text!r} has the step {cell.text!r}",
                field=self.unit.name,
                value=cell.text,
                allowed="a step is a whole number from 1 on",
                position=cell.at,
            )
        return min(int(cell.text), self.unit.high + 1)

    def number(self, cell: Cell) -> int:
        """One value as written, a number or a word."""
        text, unit = cell.text, self.unit
        if text.isascii() and text.isdigit():
            value = int(text)
            if unit.low <= value <= unit.high:
                return value
            raise self.error(f"{text} is out of range", cell, _meant(value, unit))
        if (value_of_word := unit.words.get(text.lower())) is not None:
            return value_of_word
        raise self.error(f"{text!r} is not a value" if text else "a value is missing", cell, _similar(text, unit))

    def error(self, problem: str, cell: Cell, suggestion: str = "") -> CronError:
        """The error that names this field, what is allowed in it, and the place."""
        unit = self.unit
        return CronError(
            problem, field=unit.name, value=cell.text, allowed=unit.allowed, suggestion=suggestion, position=cell.at
        )


@lru_cache(maxsize=4096)
def _known(unit: Unit, dialect: Dialect, text: str) -> int | None:
    """The mask of a field's text, or None where it has a fault, whose place only the reader of the cell can tell."""
    try:
        return Reader(unit, dialect, "").list_of_items(Cell(text, 0))
    except CronError:
        return None


def _meant(value: int, unit: Unit) -> str:
    if value == unit.high + 1 and not unit.modulo and unit.name != units.DAY_OF_MONTH.name:
        return f"did you mean {unit.low}?"
    if value < unit.low:
        return f"did you mean {unit.low}?"
    if unit.modulo and value == unit.modulo:
        return "Sunday is 0 in this dialect"
    return ""


def _similar(text: str, unit: Unit) -> str:
    import difflib  # only here: most runs have no fault

    start = text[:3].lower()
    if start in unit.words and text.isalpha():
        return f"did you mean {start.upper()}?"
    close = difflib.get_close_matches(start, unit.words, n=1)
    return f"did you mean {close[0].upper()}?" if close else ""
