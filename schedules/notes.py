"""The notes of schedules that sync, pause and resume write, for people and to be read again. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import ClassVar

from activities.note import SIGNATURE
from activities.occurrence import stamp
from schedules.errors import SettingsError
from schedules.text.shown import printable

LONGEST_REASON = 500
"""Characters; the server takes 1,000 for the whole note."""
_MAKE_UP = re.compile(
    r"resumed by .+? at (\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)(?:: .*)? "
    r"\(to make up for what was due from (\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ) on: ([a-z0-9_ -]+)\)"
)


def sync_note(verb: str, who: str, now: datetime, commit: str) -> str:
    """`Tickwright: updated by ann@host at 2027-03-01T08:00:00Z, commit 1a2b3c4`."""
    return f"{SIGNATURE} {verb} by {who} at {stamp(now)}" + (f", commit {commit}" if commit else "")


@dataclass(frozen=True, slots=True)
class MakeUp:
    """What a resume has yet to make up for: times from `since` on until it ended the pause, not long after `resumed`.

    `catchup` is how it was asked for, for example `run_all --max 5`.
    """

    LONGEST: ClassVar[timedelta] = timedelta(minutes=3)
    """Within this after `resumed` the server has ended the pause."""

    since: datetime
    resumed: datetime
    catchup: str


def pause_note(who: str, now: datetime, reason: str, until: datetime | None, since: datetime | None = None) -> str:
    """`paused by ann@host at 2027-03-01T08:00:00Z: the disk is full (until 2027-03-01T12:00:00Z)`.

    `since` is when the pause began, where it was paused before.
    """
    said = f": {reason}" if reason else ""
    begin = f" (paused since {stamp(since)})" if since else ""
    end = f" (until {stamp(until)})" if until else ""
    return f"paused by {who} at {stamp(now)}{said}{begin}{end}"


def resume_note(
    who: str, now: datetime, reason: str, make_up: MakeUp | None = None, since: datetime | None = None
) -> str:
    """The note that a resume leaves; with what it has yet to make up for, or else with the begin of the pause, where that is known."""
    said = f": {reason}" if reason else ""
    if make_up:
        rest = f" (to make up for what was due from {stamp(make_up.since)} on: {make_up.catchup})"
    else:
        rest = f" (paused since {stamp(since)})" if since else ""
    return f"resumed by {who} at {stamp(now)}{said}{rest}"


def make_up_of(note: str) -> MakeUp | None:
    """What a resume has left to make up for; None where its note says nothing of that, and for a note of somebody else."""
    found = _MAKE_UP.fullmatch(note)
    if found is None:
        return None
    return MakeUp(datetime.fromisoformat(found[2]), datetime.fromisoformat(found[1]), found[3])


def resumed_note(until: datetime, since: datetime) -> str:
    """The note left when a `--until` pause ends."""
    return f"resumed at {stamp(until)}, as the pause had said (paused since {stamp(since)})"


def checked_reason(text: str) -> str:
    """One line that shows as it is. Raises SettingsError for a reason that the server's note has no room for."""
    reason = printable(" ".join(text.split()))
    if len(reason) > LONGEST_REASON:
        raise SettingsError(f"--reason: {len(reason)} characters; write {LONGEST_REASON} at most")
    return reason


def may_overwrite(note: str) -> bool:
    """Whether a note is nobody's or an older one of ours."""
    return not note or note.startswith(SIGNATURE)
