"""The jobs of one file: defaults and environment merged, each checked, every problem at the place it was written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from functools import reduce
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from schedules.errors import Problem
from schedules.source.document import Document
from schedules.source.faults import errors_of, problem_at, problems, stray_name
from schedules.source.head import Head, check_head
from schedules.source.part import Part, Said
from schedules.source.partial import OF_LIMITS, ORDER, PartialJob, Repair
from schedules.source.texts import reader_beside, value_reader
from schedules.spec.fields import check_job_name
from schedules.spec.file import SHARED
from schedules.spec.job import JobSpec, unknown_calendars
from schedules.spec.kinds.files import READ_TEXT, READ_VALUE
from schedules.spec.labels import label_faults
from schedules.spec.layers import Layer, merge, merge_job
from schedules.spec.notice_faults import alert_faults
from schedules.spec.step_faults import step_faults
from schedules.spec.wording import MISSING

MOST_REPAIRS = 3
MOST_NAMES = 3
MOST_OF_FILE = 300
"""Problems of a file after which its further jobs are not looked at; it takes some milliseconds to word each."""


def part_of(document: Document, environment: str | None, now: datetime) -> Part:
    """The file's jobs in an environment; what the other environments change is checked as well."""
    head = check_head(document)
    usual = document.data.get("default_environment")
    unchosen = [] if head.problems or (environment, usual) != (None, None) else list(_unchosen(document))
    if environment is None and isinstance(usual, str):
        environment = usual
    chosen = Jobs(document, environment, head, now)
    jobs = chosen.check_all()
    faults = [*head.problems, *unchosen, *chosen.problems]
    for other in document.section("environments").keys() - {environment} if len(faults) < MOST_OF_FILE else ():
        faults += Jobs(document, other, head, now).check_overridden()
    return Part(
        file=document.file,
        project=_text(document, "project"),
        environment=_text(document, "default_environment"),
        environments=frozenset(document.section("environments")),
        places={chosen.prefix + name: document.positions.of_key(("jobs", name)) for name in document.section("jobs")},
        jobs=tuple(jobs),
        partial=tuple(chosen.partial),
        problems=tuple(faults),
        calendars=head.calendars,
        channels=head.channels,
    )


def _text(document: Document, key: str) -> Said | None:
    value = document.data.get(key)
    return Said(value, document.positions.of_value((key,))) if isinstance(value, str) else None


def _prefix(environment: Mapping[str, Any]) -> str:
    """What names begin with there; a wrong one is told where it stands, and not at every job."""
    try:
        return check_job_name(environment.get("name_prefix"))
    except ValueError:
        return ""


def _unchosen(document: Document) -> Iterator[Problem]:
    names = [*document.section("environments")]
    if names:
        message = (
            f"no environment is chosen; give --env {' or '.join(map(str, names[:MOST_NAMES]))}, or write which one is meant "
            f"without it, as in `default_environment: {names[0]}`"
        )
        yield Problem(document.positions.of_key(("environments",)), "environments", message)


class Jobs:
    """The jobs of a file in one environment, and the problems of those checked so far."""

    def __init__(self, document: Document, environment: str | None, head: Head, now: datetime | None = None) -> None:
        self.problems: list[Problem] = []
        self.partial: list[PartialJob] = []
        self._document = document
        self._now = now
        self._excused = {(key,) for key in head.excused}
        self._head_is_wrong, self._calendars = bool(head.problems), head.calendars.keys()
        self._channels = head.channels or document.section("channels")
        self._jobs = document.section("jobs")
        self._place = ("environments", environment) if environment else ()
        self._overrides = document.section(*self._place, "jobs") if self._place else {}
        self.prefix = _prefix(document.section(*self._place)) if self._place else ""
        self._shared = list(self._shared_layers())
        self._base: dict[str, Any] = reduce(merge, (layer.data for layer in self._shared), {})

    def check_all(self) -> list[JobSpec]:
        """The jobs without a problem."""
        found = []
        for name in self._jobs:
            if len(self.problems) >= MOST_OF_FILE:
                message = (
                    f"{MOST_OF_FILE} problems and more; what stands from here on was not looked at, mend these first"
                )
                self.problems.append(Problem(self._document.positions.of_key(("jobs", name)), f"jobs.{name}", message))
                break
            if job := self.check(name):
                found.append(job)
        return found

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
        data["name"] = self.prefix + name
        try:
            job = self._validated(data)
        except ValidationError as found:
            self._read_partially(name, data, errors_of(found))
            return None
        faults = self._check_names(PartialJob(job))
        if not faults and not self._lacks_calendars(job):
            return job
        doubtful = {"only", "except"} if self._lacks_calendars(job) else set()
        self.partial.append(PartialJob(job, frozenset(doubtful | ({ORDER} if faults else set()))))
        return None

    def _validated(self, data: dict[str, Any]) -> JobSpec:
        read = reader_beside(self._document.file)
        context = {"now": self._now, READ_TEXT: read, READ_VALUE: value_reader(read)}
        return JobSpec.model_validate(data, by_alias=True, by_name=False, context=context)

    def _read_partially(self, name: str, data: dict[str, Any], errors: list[ErrorDetails]) -> None:
        """Tells the errors, and reads on without what is wrong: further faults that do not hang on it are told as well."""
        repair, layers = Repair(data), self.layers(name)
        for _ in range(MOST_REPAIRS):
            if repair.doubtful.isdisjoint(OF_LIMITS):
                told = [error for error in errors if not self._is_excused(error)]
                self.problems += problems(self._document, layers, JobSpec, told)
            if any(error["loc"][:1] == ("name",) for error in errors):
                return
            repair.without(errors)
            try:
                job = self._validated(repair.data)
            except ValidationError as found:
                errors = errors_of(found)
                continue
            doubtful = repair.doubtful | ({"only", "except"} if self._lacks_calendars(job) else set())
            partial = PartialJob(job, frozenset(doubtful))
            if self._check_names(partial):
                partial = PartialJob(job, frozenset(doubtful | {ORDER}))
            self.partial.append(partial)
            return

    def _check_names(self, partial: PartialJob) -> bool:
        """Whether there are faults in what the job says of its calendars, steps and channels; they are told."""
        job = partial.job
        faults = [
            *unknown_calendars(job, self._document.section("calendars")),
            *(step_faults(job) if partial.has_limits else ()),
            *(alert_faults(job, self._channels) if partial.has_notices else ()),
            *label_faults(job),
        ]
        layers = self.layers(job.name.removeprefix(self.prefix))
        self.problems += (problem_at(self._document, layers, *fault) for fault in faults)
        return bool(faults)

    def _lacks_calendars(self, job: JobSpec) -> bool:
        """Whether the job names calendars of which some are not there, or wrong."""
        names = {*job.only, *job.without}
        return bool(names) and (self._head_is_wrong or not names <= self._calendars)

    def check_overridden(self) -> list[Problem]:
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
