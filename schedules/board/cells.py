"""Occurrences summed up in cells of a quarter of an hour, so that a job of every ten seconds takes no more room than another. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from schedules.board.kinds import KINDS, RANK

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from schedules.board.kinds import Kind

CELL = 900
"""Seconds."""


@dataclass(slots=True)
class Cell:
    """`counts` by kind, and by kind the newest time (Unix); `exact` is False where that is a guess."""

    counts: dict[Kind, int] = field(default_factory=dict)
    newest: dict[Kind, int] = field(default_factory=dict)
    exact: bool = True

    def add(self, kind: Kind, at: int, count: int = 1) -> None:
        """So many more occurrences, the newest of them at that time."""
        self.counts[kind] = self.counts.get(kind, 0) + count
        self.newest[kind] = max(self.newest.get(kind, at), at)

    def add_all(self, other: Cell) -> None:
        """Everything that another cell holds."""
        for kind, count in other.counts.items():
            self.add(kind, other.newest[kind], count)
        self.exact = self.exact and other.exact

    @property
    def worst(self) -> Kind:
        """Of an empty cell there is none."""
        return min(self.counts, key=RANK.__getitem__)

    @property
    def total(self) -> int:
        """Occurrences of all kinds."""
        return sum(self.counts.values())


class Cells:
    """Cells by number: Unix time divided by their length."""

    def __init__(self) -> None:
        self.by_number: dict[int, Cell] = {}

    def at(self, number: int) -> Cell:
        """The cell, which may be a new one."""
        return self.by_number.setdefault(number, Cell())

    def add(self, kind: Kind, at: int) -> None:
        """One occurrence."""
        self.at(at // CELL).add(kind, at)

    def forget_before(self, number: int) -> None:
        """Drops the cells before that one."""
        for old in [each for each in self.by_number if each < number]:
            del self.by_number[old]


def marks_json(cells: Mapping[int, Cell], begin: int) -> list[list[Any]]:
    """Oldest first: seconds from `begin` of the newest of the worst, and the worst kind's place in KINDS.

    Then, unless the cell is that one occurrence, how many there are, and where they are of several kinds how many of each.
    """
    return [_mark(cells[number], begin) for number in sorted(cells) if cells[number].counts]


def _mark(cell: Cell, begin: int) -> list[Any]:
    worst = cell.worst
    mark: list[Any] = [cell.newest[worst] - begin, RANK[worst]]
    if cell.total > 1 or not cell.exact:
        mark.append(cell.total)
    if len(cell.counts) > 1:
        mark.append({str(RANK[kind]): count for kind, count in _worst_first(cell.counts)})
    return mark


def _worst_first(counts: Mapping[Kind, int]) -> Iterable[tuple[Kind, int]]:
    return ((kind, counts[kind]) for kind in KINDS if kind in counts)
