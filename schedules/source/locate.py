"""The place of a value of a loaded job: its file is read once more, which only a job with a problem costs."""

from __future__ import annotations

from functools import cache

from schedules.errors import Location, Problem
from schedules.source.document import Document, read_document
from schedules.source.faults import problem_at
from schedules.source.head import Head
from schedules.source.jobs import Jobs
from schedules.source.malformed import Malformed
from schedules.spec.layers import Path
from schedules.spec.project import Project
from schedules.spec.wording import written


class Locator:
    """Finds places in the files of one project."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._read = cache(_read)

    def problem(self, job: str, path: Path, message: str) -> Problem:
        """The problem at the value that `path` leads to within the job, or at the nearest key above it that was written."""
        document = self._read(self._project.sources[job].file)
        if document is None:
            return Problem(self._project.sources[job], written(("jobs", job, *path)), message)
        jobs = Jobs(document, self._project.environment, Head(()))
        layers = jobs.layers(job.removeprefix(jobs.prefix))
        return problem_at(document, layers, path, message)

    def of_file(self, file: str, path: Path, message: str) -> Problem:
        """The problem at a value of a file, whatever job it belongs to."""
        document = self._read(file)
        place = Location(file) if document is None else document.positions.of_key(path)
        return Problem(place, written(path), message)


def _read(file: str) -> Document | None:
    """None where the job was written in Python, or the file has been changed since."""
    try:
        return None if file.endswith(".py") else read_document(file)
    except Malformed:
        return None
