"""The part of a project that one file or module of specs gives."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from schedules.errors import Location, Problem
from schedules.source.partial import PartialJob
from schedules.spec.calendars import CalendarSpec
from schedules.spec.job import JobSpec
from schedules.spec.notices import ChannelSpec
from schedules.spec.project import Project


@dataclass(frozen=True)
class Said:
    """A word that all parts of a project must agree on, and where it stands."""

    value: str
    place: Location


@dataclass(frozen=True)
class Part:
    """`places` holds every job that is written there, `jobs` those without a problem; nothing is known if `unread`.

    `partial` are jobs with problems, as far as they can be read.
    """

    file: str
    project: Said | None = None
    #: The one that is meant without `--env`.
    environment: Said | None = None
    environments: frozenset[str] = frozenset()
    places: Mapping[str, Location] = field(default_factory=dict)
    jobs: tuple[JobSpec, ...] = ()
    partial: tuple[PartialJob, ...] = ()
    problems: tuple[Problem, ...] = ()
    calendars: Mapping[str, CalendarSpec] = field(default_factory=dict)
    channels: Mapping[str, ChannelSpec] = field(default_factory=dict)
    unread: bool = False


@dataclass(frozen=True)
class Reading:
    """What the paths of a call hold. With problems, `project` has only the jobs that are right as far as files go."""

    project: Project
    #: In the order of the files, and by position within each.
    problems: tuple[Problem, ...] = ()
    #: The jobs with problems, as far as they can be read.
    partial: tuple[PartialJob, ...] = ()
    #: The files in the order in which they were given.
    files: tuple[str, ...] = ()

    def ordered(self, problems: Iterable[Problem]) -> list[Problem]:
        """By file and position; what has no place in a file stands first."""
        order = {file: place for place, file in reversed(list(enumerate(self.files)))}
        return sorted(problems, key=lambda one: (order.get(one.place.file, -1), one.place.line, one.place.column))
