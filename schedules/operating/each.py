"""The same for each of several jobs: one that fails stops no other."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from schedules.errors import TickwrightError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from schedules.ledger.facts import Job
    from schedules.ledger.records import Records
    from schedules.operating.chosen import Chosen
    from schedules.operating.writes import Writes

COLUMNS = ("job", "result", "note", "warning")


Apply = Callable[[], Awaitable[tuple[str, str]]]
"""Does what is planned for a job: the note that it has then, and a warning or nothing. Raises TickwrightError."""


@dataclass(frozen=True, slots=True)
class Operator:
    """The author, time and reason of an operation, and the means to do it."""

    records: Records
    writes: Writes
    who: str
    #: As checked for a note; empty for none.
    reason: str
    now: datetime


@dataclass(frozen=True, slots=True)
class Done:
    """The result for one job; `note` is the reason where it failed."""

    job: str
    note: str
    warning: str = ""
    failed: bool = False

    @property
    def json(self) -> dict[str, Any]:
        """As in the document."""
        error = self.note if self.failed else None
        return {
            "job": self.job,
            "result": "failed" if self.failed else "done",
            "note": None if self.failed else self.note,
            "warning": self.warning or None,
            "error": error,
        }


async def each_job(chosen: Chosen, do: Callable[[Job], Awaitable[tuple[str, str]]]) -> list[Done]:
    """`do` gives the note and a warning. Those that could not be read come last, as failed."""
    from schedules.ledger.records import gathered

    async def one(job: Job) -> Done:
        try:
            return Done(job.name, *await do(job))
        except TickwrightError as error:
            return Done(job.name, str(error), failed=True)

    done = await gathered(one, chosen.jobs)
    return [*done, *(Done(name, why, failed=True) for name, why in chosen.failed.items())]


def show(done: Sequence[Done]) -> None:
    """A table of them."""
    from schedules.console.table import console, table

    rows = [
        {"job": each.job, "result": "failed" if each.failed else "done", "note": each.note, "warning": each.warning}
        for each in done
    ]
    used = [column for column in COLUMNS if column != "warning" or any(each.warning for each in done)]
    console().print(table(used, rows))
