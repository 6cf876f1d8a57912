"""The author of a write: a line on standard error for each, and the note of a schedule that has no note of a person."""

from __future__ import annotations

import getpass
import os
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
from schedules.plan.worded import worded
from schedules.source.files import list_specs
from schedules.text.shown import printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from schedules.plan.plan import Applied

GIT_SECONDS = 5
FIELDS_SHOWN = 5
DIRTY = "-dirty"


@dataclass(frozen=True, slots=True)
class Audit:
    """The one who runs this sync; `commit` is empty where the specs are in no git repository."""

    who: str
    commit: str = ""

    def note(self, verb: str, now: datetime) -> str:
        """The note for the schedule."""
        return sync_note(verb, self.who, now, self.commit)

    def line(self, applied: Applied, now: datetime) -> str:
        """The log line of one write, or of one that failed."""
        change = applied.change
        diff = worded(change)
        fields = ", ".join(item.field for item in diff[:FIELDS_SHOWN])
        more = f" and {len(diff) - FIELDS_SHOWN} more" if len(diff) > FIELDS_SHOWN else ""
        what = f"{change.verb} {change.job} {applied.result}{f' ({fields}{more})' if fields else ''}"
        return printable(f"{stamp(now)} {self.who}{self._from()}: {what}")

    def _from(self) -> str:
        return f", commit {self.commit}" if self.commit else ""


def audit_of(paths: Sequence[str]) -> Audit:
    """The user, the host and the git commit of the first path; that of other paths, too, where they are all in it."""
    return Audit(f"{_user()}@{socket.gethostname()}", _commit(paths) if paths else "")


def write_line(audit: Audit, applied: Applied) -> None:
    """One line on standard error for a change that was made or failed, none for one that was not begun."""
    if applied.result in {"applied", "failed"} and applied.error != NOT_TRIED:
        say(audit.line(applied, datetime.now(UTC)))


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # A container's user need not have a name.
        return "unknown"


def _commit(paths: Sequence[str]) -> str:
    """The short commit, with `-dirty` where a spec is not as it is there; empty where git has nothing to say."""
    first = Path(paths[0])
    folder = first if first.is_dir() else first.parent
    commit = _git(folder, "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*").strip()
    if not commit or commit.endswith(DIRTY) or all(map(_in_commits, paths)):
        return commit
    return commit + DIRTY


def _in_commits(path: str) -> bool:
    """Whether git knows every spec file that the path stands for: `--dirty` says nothing of one that is untracked or ignored."""
    place = Path(path)
    if not place.exists():  # standard input, or a module's jobs
        return True
    folder, name = (place, ".") if place.is_dir() else (place.parent, place.name)
    known = {Path(os.path.abspath(folder / each)) for each in _git(folder, "ls-files", "-z", "--", name).split("\0")}  # noqa: PTH100
    return all(Path(os.path.abspath(file)) in known for file in list_specs(place).files)  # noqa: PTH100  links are not followed


def _git(folder: Path, *words: str) -> str:
    """What git prints in a folder; empty where it fails."""
    try:
        command = ["git", "-C", str(folder), *words]
        done = subprocess.run(command, capture_output=True, text=True, timeout=GIT_SECONDS, check=False)  # noqa: S603
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout if done.returncode == 0 else ""
