"""What the note of a schedule says in our words, and whose note it is. Pure."""

from __future__ import annotations

import re
from datetime import datetime

SIGNATURE = "Tickwright:"
"""How a note of ours begins; any other is the operator's. The next sync may replace it."""
RESUMED = f"{SIGNATURE} resumed, for a run succeeded"
"""The note of a schedule that failures had paused."""
_PAUSED = re.compile(r"paused by .+? at (\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)")
_UNTIL = re.compile(r"paused by .+? at \d{4}-.+ \(until (\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)\)")
_SINCE = re.compile(r" \(paused since (\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)\)(?: \(until [^()]+\))?$")
"""Of a pause of a job that was paused already."""
_STAMP = r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)"
_ENDED = re.compile(
    rf"resumed (?:by .+? )?at {_STAMP}.* \((?:paused since {_STAMP}|to make up for what was due from {_STAMP} on: [^()]+)\)$"
)
_SYNCED = re.compile(rf"{re.escape(SIGNATURE)} (\w+) by .+ at {_STAMP}")
MOVING = "paused for migration to workflow-backed scheduler"
"""Temporal's own note while it moves a schedule back from V2 to V1: nobody has paused it, or what was before is not shown."""


def synced_at(note: str) -> tuple[str, datetime] | None:
    """The verb and the time of a note that a sync wrote; None for another note."""
    found = _SYNCED.match(note)
    return (found[1], datetime.fromisoformat(found[2])) if found else None


def ended_pause(note: str) -> tuple[datetime, datetime] | None:
    """Begin and end of the pause after which a resume has left this note; None for another note."""
    found = _ENDED.match(note)
    return (datetime.fromisoformat(found[2] or found[3]), datetime.fromisoformat(found[1])) if found else None


def paused_at(note: str) -> datetime | None:
    """When the pause of a note of the verb `pause` began; None for another note."""
    found = _PAUSED.match(note) and (_SINCE.search(note) or _PAUSED.match(note))
    return datetime.fromisoformat(found[1]) if found else None


def paused_until(note: str) -> datetime | None:
    """When the pause of a note of ours ends by itself; None for one that does not, and for a note of somebody else."""
    found = _UNTIL.fullmatch(note)
    return datetime.fromisoformat(found[1]) if found else None
