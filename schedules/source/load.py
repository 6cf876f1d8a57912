"""From paths to the jobs of a project: files and directories of YAML or JSON, and Python modules."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from schedules.errors import SpecError, SpecProblem
from schedules.source.assemble import assemble
from schedules.source.document import read_document
from schedules.source.files import spec_files
from schedules.source.jobs import part_of
from schedules.source.malformed import Malformed
from schedules.source.modules import is_reference, part_of_module
from schedules.source.part import Part
from schedules.spec.project import JobSet, Project

__all__ = ["JobSet", "Project", "SpecError", "SpecProblem", "load_project"]


def load_project(paths: Sequence[str], environment: str | None = None) -> Project:
    """The project that the paths hold, in an environment (`default` if None).

    A path is a file, a directory of `.yaml`, `.yml` and `.json` files, or `package.module:attribute`.
    Raises SpecError with every problem there is, by file and position.
    """
    seen: set[Path] = set()
    parts: list[Part] = []
    for path in paths:
        parts += [part_of_module(path)] if is_reference(path) else _parts_of_files(path, environment, seen)
    return assemble(parts, environment)


def _parts_of_files(path: str, environment: str | None, seen: set[Path]) -> Iterator[Part]:
    files = []
    try:
        files = list(spec_files(Path(path)))
        if not files:
            yield _unusable(path, "holds no .yaml, .yml or .json file; write the path of your specs")
    except OSError as error:
        yield _unusable(path, f"cannot be read: {error.strerror}")
    for file in files:
        if (real := file.resolve()) not in seen:
            seen.add(real)
            yield _part_of_file(str(file), environment)


def _part_of_file(file: str, environment: str | None) -> Part:
    try:
        return part_of(read_document(file), environment)
    except Malformed as error:
        return Part(file, problems=(SpecProblem(file, error.line + 1, error.column + 1, "", str(error)),), unread=True)


def _unusable(path: str, message: str) -> Part:
    return Part(path, problems=(SpecProblem(path, 0, 0, "", message),), unread=True)
