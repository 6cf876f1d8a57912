"""From paths to the jobs of a project: files and directories of YAML or JSON, and Python modules."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from schedules.errors import Location, Problem, SpecError
from schedules.source.assemble import assemble
from schedules.source.document import read_document
from schedules.source.jobs import part_of
from schedules.source.malformed import Malformed
from schedules.source.modules import is_reference, part_of_module
from schedules.source.part import Part, Reading
from schedules.source.snapshot import Snapshot
from schedules.spec.project import JobSet, Project

__all__ = ["JobSet", "Problem", "Project", "SpecError", "load_project", "read_project"]

MOST_READINGS = 3


def load_project(paths: Sequence[str], environment: str | None = None, now: datetime | None = None) -> Project:
    """The project that the paths hold. Raises SpecError with every problem of the files; see `read_project`."""
    reading = read_project(paths, environment, now or datetime.now(UTC))
    if reading.problems:
        raise SpecError(reading.problems)
    return reading.project


def read_project(paths: Sequence[str], environment: str | None, now: datetime) -> Reading:
    """The project that the paths hold, in an environment (`default` if None), and every problem of the files.

    A path is a file, a directory of `.yaml`, `.yml` and `.json` files, or `package.module:attribute`. `now` is the time
    from which messages tell when an expression would run next. Raises SpecError for files that change while they are read.
    """
    modules = {path: part_of_module(path) for path in paths if is_reference(path)}
    given = [path for path in paths if path not in modules]
    snapshot = Snapshot(given)
    for _ in range(MOST_READINGS):
        parts = {path: list(_parts_of(path, snapshot, environment, now)) for path in given}
        before, snapshot = snapshot, Snapshot(given)
        if snapshot == before:
            break
    else:
        raise SpecError(
            [Problem(Location(given[0]), "", "was changed while it was read; try again when it is at rest")]
        )
    ordered = [part for path in dict.fromkeys(paths) for part in (parts[path] if path in parts else [modules[path]])]
    return assemble(ordered, environment, snapshot.left_out)


def _parts_of(path: str, snapshot: Snapshot, environment: str | None, now: datetime) -> Iterator[Part]:
    """A file that several paths reach belongs to the first."""
    for place, message in snapshot.faults[path]:
        yield Part(place, problems=(Problem(Location(place), "", message),), unread=True)
    for file in snapshot.files[path]:
        yield _part_of_file(file, environment, now)


def _part_of_file(file: str, environment: str | None, now: datetime) -> Part:
    try:
        return part_of(read_document(file), environment, now)
    except Malformed as error:
        return Part(
            file, problems=(Problem(Location(file, error.line + 1, error.column + 1), "", str(error)),), unread=True
        )
