"""Answers to clicks: the occurrences of a cell, or the story of one. Few at a time, and never for long."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from activities.occurrence import stamp
from schedules.board.cells import CELL
from schedules.board.kinds import kind_of
from schedules.console.table import one_line
from schedules.errors import TickwrightError
from schedules.ledger.account import account
from schedules.ledger.explain import explain
from schedules.views.explain import explained_lines

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from schedules.ledger.occurrences import Occurrence
    from schedules.ledger.records import Records
    from schedules.monitor.monitored_job import MonitoredJob

AT_A_TIME, MOST_WAITING = 2, 20
PATIENCE = 15.0
"""Seconds."""
LONGEST_REASON = 300
SECOND = timedelta(seconds=1)


class TooManyQuestionsError(TickwrightError):
    """More people ask than the server is asked for."""

    def __init__(self) -> None:
        super().__init__("too many questions at a time; try again in a few seconds")


class NoAnswerError(TickwrightError):
    """Temporal takes too long."""

    def __init__(self) -> None:
        super().__init__(f"Temporal did not answer within {PATIENCE:.0f} s; try again")


class Questions:
    """Asks Temporal by `records`. Every method raises ServerError, SettingsError and the two above."""

    def __init__(self, records: Records, ui: str) -> None:
        self._records = records
        self._ui = ui
        self._turns = asyncio.Semaphore(AT_A_TIME)
        self._asked = 0

    async def story(self, job: str, at: datetime) -> dict[str, Any]:
        """Of one occurrence: lines with their labels, as `explain` tells them."""
        async with self._turn():
            told = await explain(self._records, job, stamp(at), datetime.now(UTC), self._ui)
        lines = [[label, one_line(text, len(text))] for label, text in explained_lines(told) if label != "link"]
        verdict = told.occurrence.verdict if told.occurrence else None
        return {"job": job, "outcome": verdict, "lines": lines, "link": told.link or None}

    async def occurrences(self, known: MonitoredJob, begin: datetime) -> list[dict[str, Any]]:
        """All of the cell that begins then, oldest first, without the ones that have no mark: one a second at most.

        Temporal is asked only where the look, whose ledger is as good as its own, does not reach back so far.
        """
        now, end = datetime.now(UTC), begin + timedelta(seconds=CELL) - SECOND
        found = _seen(known, begin, end)
        if found is None:
            async with self._turn():
                job = await self._records.job(known.job.name) or known.job
                found = (await account(self._records, job, begin, min(end, now), now)).occurrences
        late_from = now - known.job.on_time
        return [line for each in found if (line := _listed(each, late_from))]

    @asynccontextmanager
    async def _turn(self) -> AsyncIterator[None]:
        if self._asked >= MOST_WAITING:
            raise TooManyQuestionsError
        self._asked += 1
        try:
            async with asyncio.timeout(PATIENCE), self._turns:
                yield
        except TimeoutError:
            raise NoAnswerError from None
        finally:
            self._asked -= 1


def _seen(known: MonitoredJob, begin: datetime, end: datetime) -> list[Occurrence] | None:
    """Those from begin to end that the look accounted for; None where it did not reach back so far."""
    state = known.state
    if state is None or state.since is None or state.since > begin:
        return None
    return [each for each in state.occurrences if begin <= each.scheduled_at <= end]


def _listed(occurrence: Occurrence, late_from: datetime) -> dict[str, Any] | None:
    kind = kind_of(occurrence, late_from)
    if kind is None:
        return None
    reason = one_line(occurrence.reason, LONGEST_REASON)
    return {
        "at": int(occurrence.scheduled_at.timestamp()),
        "kind": kind,
        "outcome": occurrence.verdict,
        "reason": reason,
    }
