"""What is wrong with a source."""

from __future__ import annotations

from schedules.errors import TickwrightError


class ImportProblem(Exception):  # noqa: N818  it is about one line or one job, and the rest goes on
    """One line or one job that cannot be read; the message says why, without its place."""


class SourceError(TickwrightError):
    """A whole source that cannot be read: not there, too large, binary, or of no known format."""

    exit_code = 2
