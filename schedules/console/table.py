"""Tables for people: whatever a cell holds, it stays within its cell."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from rich.console import Console
    from rich.table import Table

Row = TypeVar("Row")
PIPED_WIDTH = 200
LONGEST_CELL = 160
PROSE, LONGEST_PROSE = frozenset({"why", "reason"}), 1_000
"""Columns whose end says what matters; they are wrapped between words."""
MOST_ROWS = 500
"""A table of ten thousand rows takes half a minute to lay out, and nobody reads it."""
NARROWEST, NARROWEST_PROSE, BETWEEN = 16, 40, 3
"""Characters of a cell that is folded, of one with prose, and between two cells."""
WIDE, MOST_BESIDE = 140, 24
"""From so many columns of a terminal on nothing beside prose is folded; below, to so many characters."""
STYLES = {
    "ok": "green",
    "succeeded": "green",
    "failing": "bold red",
    "failed": "bold red",
    "timed_out": "bold red",
    "terminated": "red",
    "compensation_failed": "bold red",
    "missed": "bold red",
    "missing": "bold red",
    "too_late": "red",
    "late": "bold yellow",
    "unknown": "yellow",
    "waiting": "bold yellow",
    "paused": "yellow",
    "overlap_skipped": "yellow",
    "superseded": "yellow",
    "skipped": "yellow",
    "shadow": "magenta",
    "running": "cyan",
}


def one_line(text: str, longest: int = LONGEST_CELL) -> str:
    """The text without line breaks and other characters that a terminal would obey, cut with a mark."""
    flat = "".join(char if char.isprintable() else " " for char in text)
    return flat if len(flat) <= longest else flat[: longest - 1] + "…"


def table(
    columns: Sequence[str], rows: Iterable[Mapping[str, str]], title: str = "", width: int | None = None
) -> Table:
    """A table in which each row is a mapping by column; cells are text, never markup.

    On a terminal of a small `width` the other columns leave room for prose.
    """
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    made = Table(box=SIMPLE_HEAD, title=Text(one_line(title)) if title else None, title_justify="left", pad_edge=False)
    narrow = width is not None and width < WIDE and not PROSE.isdisjoint(columns)
    for column in columns:
        made.add_column(column, overflow="fold", max_width=MOST_BESIDE if narrow and column not in PROSE else None)
    for row in rows:
        cells = [
            one_line(row.get(column, ""), LONGEST_PROSE if column in PROSE else LONGEST_CELL) for column in columns
        ]
        made.add_row(*(Text(cell, style=STYLES.get(cell, "")) for cell in cells))
    return made


def fitting(
    columns: Sequence[str], rows: Sequence[Mapping[str, str]], width: int, least_first: Sequence[str]
) -> list[str]:
    """The columns for which there is room, the least important left out; those that are not named in `least_first` stay.

    Cells are folded, but none is made narrower than `NARROWEST`.
    """
    kept = list(columns)
    for column in least_first:
        if _room_for(kept, rows) <= width:
            break
        kept = [each for each in kept if each != column]
    return kept


def _room_for(columns: Sequence[str], rows: Sequence[Mapping[str, str]]) -> int:
    def needed(column: str) -> int:
        return min(max([len(column), *(len(one_line(row.get(column, ""))) for row in rows)]), _narrowest(column))

    return sum(needed(column) + BETWEEN for column in columns)


def _narrowest(column: str) -> int:
    return NARROWEST_PROSE if column in PROSE else NARROWEST


def cut(rows: Sequence[Row]) -> tuple[Sequence[Row], str]:
    """The first rows, and what to say about those that are left out; empty where none is."""
    more = len(rows) - MOST_ROWS
    said = f"{more:,} more; narrow it with --job, or take --output json" if more > 0 else ""
    return rows[:MOST_ROWS], said


def console() -> Console:
    """Standard output; where that is no terminal, wide enough for a table, and without colour."""
    from rich.console import Console

    width = None if sys.stdout.isatty() or "COLUMNS" in os.environ else PIPED_WIDTH
    return Console(file=sys.stdout, width=width, highlight=False, emoji=False, markup=False, soft_wrap=False)
