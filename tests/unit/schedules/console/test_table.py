"""Whatever a cell holds, it stays within its cell."""

from __future__ import annotations

from io import StringIO

import pytest
from rich.console import Console

from schedules.console.table import MOST_ROWS, cut, fitting, one_line, table

HOSTILE = [
    "[bold red]markup[/bold red] [/] [link=http://x]",
    "<script>alert('x')</script>",
    "quote \" and ' and `",
    "line\nbreak\r\n\ttab",
    "\x1b[31mred\x1b[0m \x07 \x9b31m",
    "right to left \u202e and \u2066 isolates",
    "emoji 🎉 and 👩\u200d👩\u200d👧",
    "wide 漢字 " * 30,
    "x" * 1_000,
]


def shown(rows: list[dict[str, str]], width: int = 80) -> list[str]:
    out = StringIO()
    Console(file=out, width=width, emoji=False, markup=False, highlight=False).print(
        table(("a", "b"), rows, rows[0]["a"])
    )
    return out.getvalue().splitlines()


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_neither_leaves_its_cell_nor_is_obeyed(text: str) -> None:
    from rich.cells import cell_len

    lines = shown([{"a": text, "b": "END"}])
    assert all(cell_len(line) <= 80 for line in lines)
    assert sum("END" in line for line in lines) == 1
    assert all(char.isprintable() for line in lines for char in line)


def test_markup_is_shown_as_it_is_written() -> None:
    assert any("[bold red]markup[/bold red]" in line for line in shown([{"a": HOSTILE[0], "b": ""}]))


def test_long_text_is_cut_with_a_mark() -> None:
    assert one_line("x" * 1_000) == "x" * 159 + "…"
    assert one_line("x" * 160) == "x" * 160


def test_of_many_rows_the_first_are_shown_and_the_others_are_counted() -> None:
    assert cut(range(MOST_ROWS)) == (range(MOST_ROWS), "")
    assert cut(range(MOST_ROWS + 1))[1].startswith("1 more")
    assert cut(range(1_700)) == (range(MOST_ROWS), "1,200 more; narrow it with --job, or take --output json")


def test_where_there_is_no_room_the_least_important_columns_go() -> None:
    rows = [{"job": "a" * 60, "state": "failing", "owner": "o" * 12, "why": "x" * 100}]
    columns = ("job", "owner", "state", "why")
    assert fitting(columns, rows, 120, ("owner", "why")) == ["job", "owner", "state", "why"]
    assert fitting(columns, rows, 80, ("owner", "why")) == ["job", "state", "why"]
    assert fitting(columns, rows, 50, ("owner", "why")) == ["job", "state"]
    assert fitting(columns, rows, 30, ("owner", "why")) == ["job", "state"]
    assert fitting(columns, rows, 1, ("owner", "why")) == ["job", "state"]
