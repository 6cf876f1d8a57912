"""Observed schedules: one pass over List, and Describe for all that List does not settle."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from schedules.plan.fingerprint import ATTRIBUTES
from schedules.plan.listed import listed_equal
from schedules.text.shown import some_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from schedules.model import DesiredSchedule, ListedSchedule, ObservedSchedule
    from schedules.server.port import Schedules

CONCURRENCY = 20
SHOWN = 3


@dataclass(frozen=True, slots=True)
class Observed:
    """The schedules described, by id, and the ids of those that List alone shows to be in sync."""

    schedules: Mapping[str, ObservedSchedule]
    in_sync: frozenset[str] = frozenset()


async def observe(
    schedules: Schedules,
    listed: Iterable[ListedSchedule],
    desired: Mapping[str, DesiredSchedule],
    *,
    deep: bool = False,
) -> Observed:
    """The existing schedules among those desired or listed (as the owner's). `deep` describes each, whatever List shows."""
    known = {entry.id: entry for entry in listed}
    in_sync: frozenset[str] = frozenset()
    if not deep:
        in_sync = frozenset(
            name
            for name, schedule in desired.items()
            if (entry := known.get(name)) is not None and listed_equal(schedule, entry)
        )
    ids = (known.keys() | desired.keys()) - in_sync
    return Observed(await described(schedules, ids), in_sync)


def foreign_attributes(listed: Iterable[ListedSchedule]) -> list[str]:
    """One warning for each search attribute that somebody has put on schedules of the owner: a sync keeps it, and no spec has it."""
    found: dict[str, list[str]] = {}
    for entry in listed:
        for name in entry.search_attributes.keys() - set(ATTRIBUTES):
            found.setdefault(name, []).append(entry.id)
    return [
        f"the search attribute {name} of {some_of(sorted(jobs), SHOWN)} is in no spec; a sync keeps it"
        for name, jobs in sorted(found.items())
    ]


async def described(schedules: Schedules, ids: Iterable[str]) -> dict[str, ObservedSchedule]:
    """The schedules that exist among the ids, by id."""
    limit = asyncio.Semaphore(CONCURRENCY)

    async def one(schedule_id: str) -> ObservedSchedule | None:
        async with limit:
            return await schedules.describe(schedule_id)

    found = await asyncio.gather(*(one(schedule_id) for schedule_id in sorted(ids)))
    return {schedule.id: schedule for schedule in found if schedule is not None}
