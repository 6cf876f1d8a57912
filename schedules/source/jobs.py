"""The jobs of one file: defaults and environment merged, each checked, every problem at the place it was written."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from functools import reduce
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from schedules.errors import SpecProblem
from schedules.source.document import Document
from schedules.source.faults import problem_at, problems, stray_name
from schedules.source.head import Head, check_head
from schedules.source.part import Part
from schedules.spec.file import SHARED
from schedules.spec.job import JobSpec, unknown_calendars
from schedules.spec.labels import label_faults
from schedules.spec.layers import Layer, merge, merge_job
from schedules.spec.notice_faults import alert_faults
from schedules.spec.step_faults import step_faults
from schedules.spec.wording import MISSING


def part_of(document: Document, environment: str | None) -> Part:
    """The file's jobs in an environment; what the other environments change is checked as well."""
    head = check_head(document)
    chosen = Jobs(document, environment, head)
    jobs = [job for name in document.section("jobs") if (job := chosen.check(name))]
    faults = [*head.problems, *chosen.problems]
    for other in document.section("environments").keys() - {environment}:
        faults += Jobs(document, other, head).check_overridden()
    project = document.data.get("project")
    named = isinstance(project, str)
    return Part(
        file=document.file,
        project=project if named else None,
        project_at=document.positions.of_value(("project",)) if named else None,
        environments=frozenset(document.section("environments")),
        places={name: document.positions.of_key(("jobs", name)) for name in document.section("jobs")},
        jobs=tuple(jobs),
        problems=tuple(faults),
        calendars=head.calendars,
        channels=head.channels,
    )


class Jobs:
    """The jobs of a file in one environment, and the problems of those checked so far."""

    def __init__(self, document: Document, environment: str | None, head: Head) -> None:
        self.problems: list[SpecProblem] = []
        self._document = document
        self._now = datetime.now(UTC)
        self._excused = {(key,) for key in head.excused}
        self._channels = head.channels or document.section("channels")
        self._jobs = document.section("jobs")
        self._place = ("environments", environment) if environment else ()
        self._overrides = document.section(*self._place, "jobs") if self._place else {}
        self._shared = list(self._shared_layers())
        self._base: dict[str, Any] = reduce(merge, (layer.data for layer in self._shared), {})

    def check(self, name: str) -> JobSpec | None:
        """The job, or None if it has a problem."""
        own, override = self._jobs[name], self._overrides.get(name)
        if not isinstance(own, dict):
            return None
        data = merge_job(self._base, own)
        if isinstance(override, dict):
            data = merge_job(data, override)
        if "name" in data:
            self.problems.append(stray_name(self._document, self.layers(name)))
        data["name"] = name
        try:
            job = JobSpec.model_validate(data, by_alias=True, by_name=False, context={"now": self._now})
        except ValidationError as found:
            errors = [error for error in found.errors(include_url=False) if not self._is_excused(error)]
            self.problems += problems(self._document, self.layers(name), JobSpec, errors)
            return None
        unknown = [
            *unknown_calendars(job, self._document.section("calendars")),
            *step_faults(job),
            *alert_faults(job, self._channels),
            *label_faults(job),
        ]
        self.problems += (problem_at(self._document, self.layers(name), *fault) for fault in unknown)
        return None if unknown else job

    def check_overridden(self) -> list[SpecProblem]:
        """The problems of those jobs that the environment changes."""
        for name in self._overrides.keys() & self._jobs.keys():
            self.check(name)
        return self.problems

    def _shared_layers(self) -> Iterator[Layer]:
        for path in filter(None, (("defaults",), self._place and (*self._place, "defaults"))):
            section = self._document.section(*path)
            yield Layer(path, {key: section[key] for key in section.keys() & SHARED})

    def layers(self, name: str) -> list[Layer]:
        """What the job is merged from, weakest first."""
        own = [Layer(("jobs", name), self._jobs[name])]
        if isinstance(override := self._overrides.get(name), dict):
            own.append(Layer((*self._place, "jobs", name), override))
        return [*self._shared, *own]

    def _is_excused(self, error: ErrorDetails) -> bool:
        return error["type"] == MISSING and error["loc"] in self._excused
