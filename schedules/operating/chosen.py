"""The jobs that the words of a command mean: names, or globs over the names in the namespace."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from activities.notices.contract import WATCHDOG_WORKFLOW
from schedules.errors import SettingsError
from schedules.ledger.selection import GLOB

if TYPE_CHECKING:
    from collections.abc import Sequence

    from schedules.ledger.facts import Job
    from schedules.ledger.records import Records


async def chosen_jobs(records: Records, words: Sequence[str]) -> list[Job]:
    """Each of them once, in the order of the words. Raises SettingsError for a word that means none; nothing is done then.

    Watchdogs, which look for missed runs of all jobs of their project, are meant only by their own names.
    """
    from schedules.ledger.records import gathered
    from schedules.ledger.selection import the_job

    jobs = await records.jobs(None) if any(map(_is_glob, words)) else []
    listed = sorted(job.name for job in jobs if job.workflow_type != WATCHDOG_WORKFLOW)
    names: dict[str, None] = {}
    for word in words:
        found = [name for name in listed if fnmatchcase(name, word)] if _is_glob(word) else [word]
        if not found:
            raise SettingsError(f"no job in the namespace matches `{word}`; see `status` for their names")
        names |= dict.fromkeys(found)
    return await gathered(lambda name: the_job(records, name), names)


def _is_glob(word: str) -> bool:
    return not GLOB.isdisjoint(word)
