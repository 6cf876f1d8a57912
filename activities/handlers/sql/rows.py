"""What a statement gave: how many rows, and the first of them as JSON. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import count
from typing import Any

from activities.steps.output import stored_size, to_json

MOST_ROWS = 100
MOST_BYTES = 32 * 1024
"""Of the rows of a step's output, as JSON."""


@dataclass
class Rows:
    """The rows of one statement: `count` is of all that it gave or changed, `first` are those that are kept."""

    count: int = 0
    first: list[dict[str, Any]] = field(default_factory=list)
    given: int = 0
    """How many it gave."""
    _size: int = 0

    def add(self, columns: Sequence[str], values: Sequence[Any]) -> None:
        """One more row; it is kept if there is room for it, and all before it are."""
        self.given += 1
        if len(self.first) < self.given - 1 or self.given > MOST_ROWS:
            return
        row = {name: as_json(value) for name, value in zip(columns, values, strict=True)}
        self._size += stored_size(row)
        if self._size <= MOST_BYTES:
            self.first.append(row)


def output_of(results: Sequence[Rows]) -> dict[str, Any]:
    """The step's output: `row_count` of the last statement, `rows` of the last one that gave some, and `row_counts` of several."""
    shown = next((rows for rows in reversed(results) if rows.given), Rows())
    output: dict[str, Any] = {"row_count": results[-1].count if results else 0, "rows": shown.first}
    if left_out := shown.given - len(shown.first):
        output["rows_left_out"] = left_out
    if len(results) > 1:
        output["row_counts"] = [rows.count for rows in results]
    return output


def names_of_columns(names: Iterable[str]) -> list[str]:
    """Each once: the second `id` becomes `id_2`."""
    found: list[str] = []
    for name in names:
        numbered = (name if number == 1 else f"{name}_{number}" for number in count(1))
        found.append(next(one for one in numbered if one not in found))
    return found


def as_json(value: Any) -> Any:
    """A value of a database as JSON: bytes as PostgreSQL shows them, whole decimals as numbers, what JSON cannot hold as text."""
    if isinstance(value, bytes | bytearray | memoryview):
        return "\\x" + bytes(value).hex()
    if isinstance(value, Decimal) and value.is_finite() and value == value.to_integral_value():
        return int(value)
    try:
        return to_json(value)
    except ValueError:
        return str(value)
