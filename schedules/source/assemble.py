"""From the parts of a call to one project: what they must agree on, checked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from schedules.errors import Location, Problem
from schedules.source.part import Part, Reading, Said
from schedules.spec.calendars import CalendarSet
from schedules.spec.file import NO_ENVIRONMENT
from schedules.spec.notices import ChannelSet
from schedules.spec.project import Project
from schedules.text.nearest import suggestion


def assemble(parts: Sequence[Part], environment: str | None, left_out: Sequence[str] = ()) -> Reading:
    """The project of all parts, and their problems; `left_out` are files of the folders that no part was made of."""
    problems = [problem for part in parts for problem in part.problems]
    usual = [] if environment is not None else [part.environment for part in parts if part.environment]
    problems += _at_odds(usual, "default_environment", "one call handles one environment, write the same")
    place = usual[0].place if usual else Location("--env")
    environment = usual[0].value if usual else environment
    problems += [*_project_problems(parts), *_environment_problems(parts, environment, place), *_duplicates(parts)]
    jobs = {job.name: job for part in reversed(parts) for job in reversed(part.jobs)}
    project = Project(
        name=next((part.project.value for part in parts if part.project), ""),
        environment=environment or NO_ENVIRONMENT,
        jobs=tuple(jobs[name] for name in dict.fromkeys(job.name for part in parts for job in part.jobs)),
        sources={name: place for part in reversed(parts) for name, place in part.places.items()},
        calendars=tuple(
            CalendarSet(part.file, part.calendars, frozenset(part.places)) for part in parts if part.calendars
        ),
        channels=tuple(ChannelSet(part.file, part.channels, frozenset(part.places)) for part in parts if part.channels),
        left_out=tuple(left_out),
    )
    partial = tuple(one for part in parts for one in part.partial)
    reading = Reading(project, (), partial, tuple(part.file for part in parts))
    return replace(reading, problems=tuple(reading.ordered(problems)))


def _project_problems(parts: Sequence[Part]) -> Iterator[Problem]:
    named = [part.project for part in parts if part.project]
    yield from _at_odds(named, "project", "one call handles one project, write the same")
    if not named and not any(part.problems for part in parts):
        file = parts[0].file if parts else "PATH"
        advice = "add a PATH with a spec file, or make the list a JobSet" if parts else "write the path of your specs"
        yield Problem(Location(file), "project", f"nothing says which project this is; {advice}")


def _at_odds(said: Sequence[Said], key: str, advice: str) -> Iterator[Problem]:
    for one in said[1:]:
        if one.value != said[0].value:
            yield Problem(one.place, key, f"`{one.value}`, but `{said[0].value}` in {said[0].place}; {advice}")


def _environment_problems(parts: Sequence[Part], environment: str | None, place: Location) -> Iterator[Problem]:
    known = sorted({name for part in parts for name in part.environments})
    if environment not in (None, NO_ENVIRONMENT, *known) and not any(part.unread for part in parts):
        message = (
            f"no file defines the environment `{environment}`; {suggestion(str(environment), known, 'environments')}"
        )
        yield Problem(place, "", message)


def _duplicates(parts: Sequence[Part]) -> Iterator[Problem]:
    first: dict[str, Location] = {}
    for part in parts:
        for name, place in part.places.items():
            if name in first:
                message = f"stands in {first[name]} already; give one of the two jobs another name"
                yield Problem(place, f"jobs.{name}", message)
            first.setdefault(name, place)
