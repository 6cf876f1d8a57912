"""What is remembered of a job's last day where its occurrences are too many to be kept one by one. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedules.board.cells import CELL, Cell, Cells
from schedules.board.kinds import run_kind

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime

    from schedules.ledger.facts import Run


class Day:
    """By cell: the runs that a Memory let go, and the times without a run as they were told while they still were."""

    def __init__(self) -> None:
        self.runs = Cells()
        self.without: dict[int, Cell] = {}
        self._counted: dict[str, datetime] = {}

    def let_go(self, runs: Iterable[Run]) -> None:
        """Runs that have ended; one that is read again, and let go again, counts once."""
        for run in runs:
            if run.closed_at is not None and run.run_id not in self._counted:
                self._counted[run.run_id] = run.closed_at
                self.runs.add(run_kind(run.verdict), int(run.scheduled_at.timestamp()))

    def settle(self, without: Mapping[int, Cell], since: int, until: int) -> None:
        """The times without a run from since to until (Unix); of cells that are wholly within, this is remembered."""
        for number in range(-(-since // CELL), until // CELL):
            self.without[number] = without.get(number, Cell())

    def forget(self, begin: int, read_from: datetime) -> None:
        """What was before `begin` (Unix); runs that ended before `read_from` will not be read again."""
        self.runs.forget_before(begin // CELL)
        self.without = {number: cell for number, cell in self.without.items() if number >= begin // CELL}
        self._counted = {run_id: at for run_id, at in self._counted.items() if at >= read_from}
