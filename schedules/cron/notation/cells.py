"""Pieces of an expression that remember where they stand in it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

_WORD = re.compile(r"\S+")


class Cell(NamedTuple):
    """Text and the place of its first character in the whole expression."""

    text: str
    at: int

    def split(self, separator: str) -> Iterator[Cell]:
        """The parts between separators, empty ones too."""
        place = self.at
        for part in self.text.split(separator):
            yield Cell(part, place)
            place += len(part) + len(separator)

    def partition(self, separator: str) -> tuple[Cell, Cell | None]:
        """What stands before the first separator, and after it (None without a separator)."""
        before, found, after = self.text.partition(separator)
        return Cell(before, self.at), Cell(after, self.at + len(before) + len(separator)) if found else None

    def words(self) -> tuple[Cell, ...]:
        """The parts between white space."""
        return tuple(Cell(word.group(), self.at + word.start()) for word in _WORD.finditer(self.text))

    def after(self, length: int) -> Cell:
        """The text from that character on."""
        return Cell(self.text[length:], self.at + length)
