"""The port from which the account of a job is read: a namespace, or its twin in the tests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    from activities.account.facts import Run
    from activities.account.record import SchedulerRecord
    from schedules.ledger.facts import Job


@dataclass(frozen=True, slots=True)
class Found:
    """Runs, those that go on before those that ended, each the newest first."""

    runs: list[Run]
    #: Whether these are all of what was asked for.
    complete: bool = True


class JobRecords(Protocol):
    """Jobs and their runs as a namespace keeps them. Every method raises ServerError for what the server refuses."""

    async def jobs(self, owner: str | None) -> list[Job]:
        """Every job of an owner, or of all owners, as far as List shows it."""

    async def job(self, name: str) -> Job | None:
        """All that is known of one job; None where there is no such schedule."""

    async def runs_of(
        self, job: Job, since: datetime, until: datetime, most: int | None = None, *, open_after: datetime | None = None
    ) -> Found:
        """The runs of a job's occurrences scheduled from `since` to `until`, both included, whoever started them.

        With `open_after`, only those that went on after that time. With `most`, so many of them at the least where there are more.
        """

    async def with_results(self, runs: Iterable[Run]) -> list[Run]:
        """The same runs, in order, each that has ended with its JobResult, or else with what its failure says."""

    async def with_waiting(self, runs: Iterable[Run]) -> list[Run]:
        """The same runs, in order, each that goes on marked where no worker has taken it yet."""

    async def record(self, schedule_id: str, since: datetime, until: datetime) -> SchedulerRecord | None:
        """The writes to a schedule and the deeds of its scheduler from `since` to `until`; None where the server does not tell."""

    async def jittered(self, job: Job, times: Sequence[datetime]) -> dict[datetime, datetime]:
        """The start that jitter gave to each of the newest of some scheduled times."""

    async def quiet(self, job: Job, times: Sequence[datetime]) -> frozenset[datetime]:
        """Those of the newest of some moments at which starts were due after which no run of the namespace started or ended until they were late."""
