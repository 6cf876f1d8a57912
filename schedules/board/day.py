"""A job's last day as counts by hour, where its occurrences are too many to be kept one by one. Pure."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

from schedules.board.cells import CELL, Cell, Cells
from schedules.board.kinds import run_kind

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime

    from activities.account.facts import Run
    from schedules.board.kinds import Kind

PASSING: frozenset[Kind | None] = frozenset({"due", "waiting"})
"""What a time without a run is said to be only as long as a ledger holds it."""


class Day:
    """By cell: the runs that a Memory let go, and the times without a run that a ledger has left behind, as it told them last."""

    def __init__(self) -> None:
        self.runs = Cells()
        self._without: dict[int, dict[Kind | None, array[int]]] = {}
        self._accounted: set[int] = set()
        self._last: dict[int, Kind | None] = {}
        self._from = self._until = 0
        self._counted: dict[str, datetime] = {}

    def let_go(self, runs: Iterable[Run]) -> None:
        """Runs that have ended; one that is read again, and let go again, counts once."""
        for run in runs:
            if run.closed_at is not None and run.run_id not in self._counted:
                self._counted[run.run_id] = run.closed_at
                at = int(run.scheduled_at.timestamp())
                self.runs.add(run_kind(run.verdict), at)
                self.ran(at)

    def ran(self, at: int) -> None:
        """That time (Unix) has a run after all."""
        self._last.pop(at, None)
        for times in self._without.get(at // CELL, {}).values():
            if at % CELL in times:
                times.remove(at % CELL)

    def account(self, without: Mapping[int, Kind | None], since: int, until: int) -> None:
        """A ledger from since up to, and not including, until (Unix), and its times without a run; None stands for no mark.

        What the ledger before it said of times that this one holds no more is remembered.
        """
        self._give_back(since)
        for at, kind in self._last.items():
            if at < since:
                times = self._without.setdefault(at // CELL, {})
                times.setdefault("no_run" if kind in PASSING else kind, array("H")).append(at % CELL)
        self._accounted.update(range(-(-self._from // CELL), min(since, self._until) // CELL))
        self._from = min(self._from, since) if since <= self._until else since
        self._until, self._last = until, dict(without)

    def is_accounted(self, number: int) -> bool:
        """Whether looks that followed each other told of every time of the cell."""
        return number in self._accounted

    def add_without(self, number: int, cell: Cell) -> int:
        """Adds the times of a cell that a ledger has left behind; gives how many of them have no mark."""
        kinds = self._without.get(number, {})
        for kind, times in kinds.items():
            if kind and times:
                cell.add(kind, number * CELL + max(times), len(times))
        return len(kinds.get(None, ()))

    def forget(self, begin: int, read_from: datetime) -> None:
        """What was before `begin` (Unix); runs that ended before `read_from` will not be read again."""
        first = begin // CELL
        self.runs.forget_before(first)
        self._without = {number: kinds for number, kinds in self._without.items() if number >= first}
        self._accounted = {number for number in self._accounted if number >= first}
        self._counted = {run_id: at for run_id, at in self._counted.items() if at >= read_from}

    def _give_back(self, since: int) -> None:
        """To a ledger that reaches back further than the last one."""
        first = since // CELL
        self._accounted = {number for number in self._accounted if number < first}
        for number in [each for each in self._without if each > first]:
            del self._without[number]
        for kind, times in self._without.get(first, {}).items():
            self._without[first][kind] = array("H", (each for each in times if each < since % CELL))
