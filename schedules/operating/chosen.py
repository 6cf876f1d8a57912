"""The jobs that the words of a command mean: names, or globs over the names in the namespace."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from activities.notices.contract import WATCHDOG_WORKFLOW
from schedules.errors import ServerError, SettingsError
from schedules.ledger.selection import GLOB

if TYPE_CHECKING:
    from collections.abc import Sequence

    from schedules.ledger.facts import Job
    from schedules.ledger.records import Records


@dataclass(frozen=True, slots=True)
class Chosen:
    """The jobs in the order of the words, and why others of them could not be read, by name."""

    jobs: list[Job]
    failed: dict[str, str]


async def chosen_jobs(records: Records, words: Sequence[str]) -> Chosen:
    """Each job once. Raises SettingsError for a word that means none; nothing is done then.

    Watchdogs, which look for missed runs of all jobs of their project, are meant only by their own names.
    """
    from schedules.ledger.records import gathered
    from schedules.ledger.selection import the_job

    listed: list[str] = []
    if any(map(_is_glob, words)):
        jobs = await records.jobs(None)
        listed = sorted(job.name for job in jobs if job.workflow_type != WATCHDOG_WORKFLOW)
    names: dict[str, None] = {}
    for word in words:
        found = [name for name in listed if fnmatchcase(name, word)] if _is_glob(word) else [word]
        if not found:
            raise SettingsError(f"no job in the namespace matches `{word}`; `tickwright status` shows their names")
        names |= dict.fromkeys(found)

    async def one(name: str) -> Job | str:
        try:
            if name in words:
                return await the_job(records, name)
            return await records.job(name) or "it was deleted a moment ago"
        except ServerError as error:
            return str(error)

    found_jobs = dict(zip(names, await gathered(one, names), strict=True))
    return Chosen(
        [job for job in found_jobs.values() if not isinstance(job, str)],
        {name: why for name, why in found_jobs.items() if isinstance(why, str)},
    )


def _is_glob(word: str) -> bool:
    return not GLOB.isdisjoint(word)
