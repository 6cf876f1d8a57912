"""Who writes: said on standard error for every write, and in the note of a schedule that nobody wrote a note on."""

from __future__ import annotations

import getpass
import socket
import subprocess
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from activities.occurrence import stamp
from schedules.console.terminal import say
from schedules.errors import NOT_TRIED
from schedules.notes import sync_note
from schedules.plan.worth_showing import worth_showing
from schedules.text.shown import printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from schedules.plan.plan import Applied

GIT_SECONDS = 5
FIELDS_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Audit:
    """The one who runs this sync; `commit` is empty where the specs are in no git repository."""

    who: str
    commit: str = ""

    def note(self, verb: str, now: datetime) -> str:
        """What the schedule's note will say."""
        return sync_note(verb, self.who, now, self.commit)

    def line(self, applied: Applied, now: datetime) -> str:
        """The log line of one write, or of one that failed."""
        change = applied.change
        diff = worth_showing(change)
        fields = ", ".join(item.field for item in diff[:FIELDS_SHOWN])
        more = f" and {len(diff) - FIELDS_SHOWN} more" if len(diff) > FIELDS_SHOWN else ""
        what = f"{change.verb} {change.job} {applied.result}{f' ({fields}{more})' if fields else ''}"
        return printable(f"{stamp(now)} {self.who}{self._from()}: {what}")

    def _from(self) -> str:
        return f", commit {self.commit}" if self.commit else ""


def audit_of(paths: Sequence[str]) -> Audit:
    """The user, the host and the git commit of the first path."""
    return Audit(f"{_user()}@{socket.gethostname()}", _commit(paths[0]) if paths else "")


def write_line(audit: Audit, applied: Applied) -> None:
    """One line on standard error for a change that was made or failed, none for one that was not begun."""
    if applied.result in {"applied", "failed"} and applied.error != NOT_TRIED:
        say(audit.line(applied, datetime.now(UTC)))


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # A container's user need not have a name.
        return "unknown"


def _commit(path: str) -> str:
    """The short commit, with `-dirty` where files were changed since; empty where git has nothing to say."""
    file = Path(path)
    folder = file if file.is_dir() else file.parent
    command = ["git", "-C", str(folder), "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=GIT_SECONDS, check=False)  # noqa: S603
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""
