"""Figures beside their aims: each benchmark reports its own, and `make bench` shows those of all in one table."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

FILE = "BENCH_FIGURES"
"""The variable of the environment that names the file in which the figures are collected."""


@dataclass(frozen=True)
class Figure:
    """One measured value and its aim: at most so much, or at least so much."""

    bench: str
    name: str
    value: float
    aim: float
    at_least: bool

    @property
    def reached(self) -> bool:
        """Whether the aim is reached."""
        return self.value >= self.aim if self.at_least else self.value <= self.aim

    def columns(self) -> tuple[str, str, str, str, str]:
        """The row of the table."""
        aim = f"{'≥' if self.at_least else '≤'} {self.aim:g}"
        return self.bench, self.name, f"{self.value:.2f}", aim, "reached" if self.reached else "MISSED"


def report(name: str, value: float, detail: str = "", *, aim: float, at_least: bool = False) -> bool:
    """Prints a figure, and keeps it for the table of all; whether its aim is reached."""
    figure = Figure(Path(sys.argv[0]).stem.removeprefix("bench_"), name, value, aim, at_least)
    _, *shown = figure.columns()
    print(*shown, detail, sep="  ", flush=True)
    if file := os.environ.get(FILE):
        with Path(file).open("a", encoding="utf-8") as figures:
            figures.write(json.dumps(asdict(figure)) + "\n")
    return figure.reached


def kept(file: Path) -> list[Figure]:
    """The figures that the benchmarks reported."""
    return [Figure(**json.loads(line)) for line in file.read_text(encoding="utf-8").splitlines()]


def table(figures: list[Figure]) -> str:
    """One row a figure, below a heading."""
    rows = [("benchmark", "figure", "measured", "aim", ""), *(figure.columns() for figure in figures)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join("  ".join(map(str.ljust, row, widths)).rstrip() for row in rows)
