"""The head of a spec file, checked: all keys beside its jobs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from schedules.errors import Problem
from schedules.source.document import Document
from schedules.source.faults import MOST_TOLD, errors_of, misspellings, problems
from schedules.spec.calendars import CalendarSpec, calendar_faults
from schedules.spec.file import SHARED, SpecFile
from schedules.spec.layers import Layer, Path
from schedules.spec.notice_faults import channel_faults
from schedules.spec.notices import ChannelSpec
from schedules.spec.wording import written
from schedules.text.nearest import suggestion

EXTENSION = "x-"


@dataclass(frozen=True)
class Head:
    """Problems outside the jobs; `excused` are keys that jobs seem to lack only because of them."""

    problems: tuple[Problem, ...]
    calendars: Mapping[str, CalendarSpec] = field(default_factory=dict)
    channels: Mapping[str, ChannelSpec] = field(default_factory=dict)
    excused: frozenset[str] = frozenset()


def check_head(document: Document) -> Head:
    """Version, project, defaults and environments of a file."""
    strays = tuple(islice(_overrides_without_job(document), MOST_TOLD))
    try:
        spec = SpecFile.model_validate(_without_extensions(document.data), by_alias=True, by_name=False)
    except ValidationError as found:
        errors = errors_of(found)
        told = problems(document, [Layer((), document.data)], SpecFile, errors)
        return Head((*told, *strays), excused=frozenset(_excused(errors)))
    faults = [
        *_problems(document, "calendars", calendar_faults(spec.calendars)),
        *_problems(document, "channels", channel_faults(spec.channels)),
    ]
    return Head((*strays, *faults), spec.calendars, spec.channels)


def _without_extensions(data: dict[str, Any]) -> dict[str, Any]:
    """The keys that say something: what stands under `x-…` is there for its anchors."""
    return {key: value for key, value in data.items() if not key.startswith(EXTENSION)}


def _problems(document: Document, section: str, faults: Iterable[tuple[Path, str]]) -> Iterator[Problem]:
    for path, message in faults:
        place = document.positions.written((section, *path))
        yield Problem(document.positions.of_value(place), written(place), message)


def _overrides_without_job(document: Document) -> Iterator[Problem]:
    jobs = document.section("jobs")
    for environment in document.section("environments"):
        for job in document.section("environments", environment, "jobs"):
            if job not in jobs:
                path = ("environments", environment, "jobs", job)
                advice = suggestion(job, jobs, "jobs")
                yield Problem(document.positions.of_key(path), written(path), f"no such job in this file; {advice}")


def _excused(errors: Iterable[ErrorDetails]) -> Iterator[str]:
    yield from (str(path[-1]) for path in misspellings(SpecFile, errors) if path and path[-2:-1] == ("defaults",))
    if any(error["loc"][-1:] == ("defaults",) for error in errors):
        yield from SHARED
