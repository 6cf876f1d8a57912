"""What one file or module of specs gives to the project."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from schedules.errors import Location, SpecProblem
from schedules.spec.calendars import CalendarSpec
from schedules.spec.job import JobSpec
from schedules.spec.notices import ChannelSpec


@dataclass(frozen=True)
class Part:
    """`places` holds every job that is written there, `jobs` those without a problem; nothing is known if `unread`."""

    file: str
    project: str | None = None
    project_at: Location | None = None
    environments: frozenset[str] = frozenset()
    places: Mapping[str, Location] = field(default_factory=dict)
    jobs: tuple[JobSpec, ...] = ()
    problems: tuple[SpecProblem, ...] = ()
    calendars: Mapping[str, CalendarSpec] = field(default_factory=dict)
    channels: Mapping[str, ChannelSpec] = field(default_factory=dict)
    unread: bool = False
