"""The states of the selected jobs. Reads Temporal."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from schedules.errors import SettingsError
from schedules.ledger.selection import check_found

if TYPE_CHECKING:
    from collections.abc import Iterable

    from schedules.ledger.overview import Overview
    from schedules.ledger.records import Records
    from schedules.ledger.selection import Selection
    from schedules.ledger.state import JobState, State


async def job_states(records: Records, meant: Selection, since: str, now: datetime) -> Overview:
    """The states of the jobs that are meant, worst first."""
    from dataclasses import replace

    from schedules.ledger.notices.open_incidents import open_incidents
    from schedules.ledger.overview import known_times, overview
    from schedules.ledger.state import missing_job
    from schedules.times.moment import parse_instant

    begin = parse_instant(since, now, option="--since")
    if begin > now:
        raise SettingsError(f"--since {since}: write a time that has passed")
    listed = await records.jobs(meant.owner)
    check_found(meant, listed, listed or await records.jobs(None))
    jobs = known_times([job for job in listed if meant.takes(job.name)], meant.times)
    found = await overview(records, jobs, meant.owner, begin, now, all_jobs=meant.whole)
    incidents = await open_incidents(records)
    states = [replace(state, incident=incidents.get(state.name)) for state in found.states]
    there = {job.name for job in jobs}
    absent = [
        missing_job(job.name, meant.owner or "", job.timezone)
        for job in (meant.jobs or {}).values()
        if job.name not in there and meant.takes(job.name) and still_to_come(meant, job.name, now)
    ]
    return replace(found, states=worst_first([*states, *absent]))


def still_to_come(meant: Selection, name: str, now: datetime) -> bool:
    """Whether a job of the files has times to come: one that has none needs no schedule, and has none after a while."""
    from schedules.cron.occurrences import next_after

    return name not in meant.times or next_after(meant.times[name], now) is not None


WORST_FIRST: tuple[State, ...] = (
    "missing",
    "failing",
    "late",
    "unknown",
    "paused",
    "never_ran",
    "running",
    "shadow",
    "ok",
)


def worst_first(states: Iterable[JobState]) -> list[JobState]:
    """The states sorted: those that somebody must look at above those that go well; by name within a state."""
    return sorted(states, key=lambda state: (WORST_FIRST.index(state.state), state.name))
