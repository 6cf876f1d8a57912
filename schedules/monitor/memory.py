"""The runs of one job that a monitor keeps in mind between two looks. A monitor that starts anew reads them again. Pure."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from activities.account.facts import NEVER, TROUBLE

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from activities.account.facts import Run

MOST = 200
"""Runs of a job, the newest."""


class Memory:
    """The newest runs, those that go on, and the last success and failure. `changed` since it was last set to False.

    Of the times after `whole_after` it holds every run that it was given.
    """

    def __init__(self) -> None:
        self.changed = True
        self.whole_after: datetime = NEVER
        self.asked: set[str] = set()
        self.ends_asked: set[str] = set()
        self._runs: dict[str, Run] = {}

    @property
    def runs(self) -> list[Run]:
        """In no order."""
        return list(self._runs.values())

    def take(self, runs: Iterable[Run]) -> list[Run]:
        """Runs as visibility has them, which does not know whether one that goes on waits for a worker; gives those let go."""
        for run in runs:
            known = self._runs.get(run.run_id)
            if known and known.closed_at is None and run.closed_at is None:
                continue
            if known and known.result and known.closed_at == run.closed_at:
                continue
            if known != run:
                self._runs[run.run_id] = run
                self.changed = True
        return self._trim() if len(self._runs) > MOST else []

    def mark_waiting(self, run: Run) -> None:
        """As a closer look at a run that goes on has shown it."""
        if self._runs.get(run.run_id) != run:
            self._runs[run.run_id] = run
            self.changed = True

    def mark_told(self, run: Run) -> None:
        """With what its end has told."""
        if run.run_id in self._runs and run.result:
            self._runs[run.run_id] = run
            self.changed = True

    def forget_ended(self, going: Collection[str], before: datetime) -> None:
        """Runs begun before that go on no more, though no end of them was seen: they have been deleted."""
        gone = [
            run.run_id
            for run in self._runs.values()
            if run.closed_at is None and run.started_at < before and run.run_id not in going
        ]
        for run_id in gone:
            del self._runs[run_id]
            self.changed = True

    def _trim(self) -> list[Run]:
        runs = sorted(self._runs.values(), key=lambda run: run.scheduled_at)
        ended = [run for run in runs if run.closed_at]
        kept = {run.run_id for run in runs[-MOST:]} | {run.run_id for run in runs if run.closed_at is None}
        for verdicts in (TROUBLE, {"succeeded"}):
            kept |= {run.run_id for run in [each for each in ended if each.verdict in verdicts][-1:]}
        self._runs = {run.run_id: run for run in runs if run.run_id in kept}
        gone = [run for run in runs if run.run_id not in kept]
        self.whole_after = max([self.whole_after, *(run.scheduled_at for run in gone)])
        return gone
