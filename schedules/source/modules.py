"""Jobs written in Python: `package.module:attribute`, imported."""

from __future__ import annotations

import ast
import importlib
import json
import os
import re
import sys
import traceback
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import timedelta
from pathlib import Path
from types import ModuleType

from pydantic import ValidationError

from schedules import spec
from schedules.errors import Location, Problem
from schedules.source.part import Part, Said
from schedules.source.partial import ORDER, PartialJob
from schedules.spec.calendars import CalendarSpec, calendar_faults
from schedules.spec.fields import Spec, check_owner_part
from schedules.spec.file import check_environment
from schedules.spec.job import JobSpec, unknown_calendars
from schedules.spec.labels import label_faults
from schedules.spec.layers import Path as SpecPath
from schedules.spec.notice_faults import alert_faults, channel_faults
from schedules.spec.notices import ChannelSpec
from schedules.spec.project import JobSet
from schedules.spec.step_faults import step_faults
from schedules.spec.wording import path_of, worded, written
from schedules.text.nearest import suggestion
from schedules.text.shown import shown

REFERENCE = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*")


def is_reference(path: str) -> bool:
    """Whether a path names a module's attribute and not a file."""
    return bool(REFERENCE.fullmatch(path)) and not os.path.exists(path)  # noqa: PTH110  false for a name too long


def part_of_module(reference: str) -> Part:
    """The jobs that the attribute holds; importing runs the user's module."""
    name, _, attribute = reference.partition(":")
    try:
        module = _import(name)
    except (Exception, SystemExit) as error:  # noqa: BLE001  whatever a user's module raises is a problem of that module
        return Part(reference, problems=tuple(_import_problems(reference, error)), unread=True)
    at = _place_of(module, reference, attribute)
    if not hasattr(module, attribute):
        advice = suggestion(attribute, [key for key in vars(module) if not key.startswith("_")], "names")
        return Part(at.file, problems=(Problem(at, "", f"{name} has no `{attribute}`; {advice}"),), unread=True)
    return _part(getattr(module, attribute), attribute, at)


def _import(name: str) -> ModuleType:
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    return importlib.import_module(name)


def _part(value: object, attribute: str, at: Location) -> Part:
    project = value.project if isinstance(value, JobSet) else None
    items = value.jobs if isinstance(value, JobSet) else value
    if not isinstance(items, list | tuple):
        message = f"is {type(items).__name__}; write a list of JobSpec, or a JobSet with project and jobs"
        return Part(at.file, problems=(Problem(at, attribute, message),), unread=True)
    jobs = [item for item in items if isinstance(item, JobSpec)]
    calendars = value.calendars if isinstance(value, JobSet) else {}
    channels = value.channels if isinstance(value, JobSet) else {}
    faults = [*_item_faults(items, attribute), *(_set_faults(value, attribute) if isinstance(value, JobSet) else ())]
    doubtful, right, partial, in_jobs = (
        {"run"} if faults else {ORDER},
        list[JobSpec](),
        list[PartialJob](),
        list[tuple[str, str]](),
    )
    for job in jobs:
        found = list(_job_faults(job, calendars, channels))
        if found or faults:
            partial.append(PartialJob(job, frozenset(doubtful | ({"only"} if job.only or job.without else set()))))
        else:
            right.append(job)
        in_jobs += [(written(("jobs", job.name, *path)), message) for path, message in found]
    return Part(
        file=at.file,
        project=None if project is None else Said(project, at),
        environments=frozenset(value.environments if isinstance(value, JobSet) else ()),
        places={job.name: at for job in jobs},
        jobs=tuple(right),
        partial=tuple(partial),
        problems=tuple(Problem(at, path, message) for path, message in (*faults, *in_jobs)),
        calendars=calendars,
        channels=channels,
    )


def _job_faults(
    job: JobSpec, calendars: Mapping[str, CalendarSpec], channels: Mapping[str, ChannelSpec]
) -> Iterator[tuple[SpecPath, str]]:
    yield from unknown_calendars(job, calendars)
    yield from step_faults(job)
    yield from alert_faults(job, channels)
    yield from label_faults(job)


def _item_faults(items: list[object] | tuple[object, ...], attribute: str) -> Iterator[tuple[str, str]]:
    for index, item in enumerate(items):
        if not isinstance(item, JobSpec):
            yield f"{attribute}[{index}]", f"is {shown(item)}, not a JobSpec; write JobSpec(name=…, schedule=…, …)"
        elif reason := _not_json(item):
            yield (
                f"jobs.{item.name}.{'run' if item.run else 'steps'}",
                f"{reason}; write text, numbers, true, false, null, lists and mappings only",
            )
    for name, count in Counter(item.name for item in items if isinstance(item, JobSpec)).items():
        if count > 1:
            yield f"jobs.{name}", f"stands {count} times in `{attribute}`; give each job a name of its own"


def _not_json(job: JobSpec) -> str:
    """Why what the job runs cannot be stored as JSON, or nothing; from a file it always can."""
    try:
        json.dumps(job.model_dump(mode="python", include={"run", "steps"}), allow_nan=False, default=_duration)
    except (TypeError, ValueError, RecursionError) as error:
        return str(error)
    return ""


def _duration(value: object) -> float:
    if isinstance(value, timedelta):
        return value.total_seconds()
    raise TypeError(f"Object of type {type(value).__name__} is not JSON serializable")


def _set_faults(jobs: JobSet, attribute: str) -> Iterator[tuple[str, str]]:
    names = [("project", jobs.project), *((f"environments[{n}]", name) for n, name in enumerate(jobs.environments))]
    for key, name in names:
        try:
            check_owner_part(name) if key == "project" else check_environment(check_owner_part(name))
        except ValueError as error:
            yield f"{attribute}.{key}", str(error)
    strange = {name: value for name, value in jobs.calendars.items() if not isinstance(value, CalendarSpec)}
    for name, value in strange.items():
        yield f"{attribute}.calendars.{name}", f"is {shown(value)}, not a CalendarSpec; write CalendarSpec(weekdays=…)"
    for path, message in () if strange else calendar_faults(jobs.calendars):
        yield written((attribute, "calendars", *path)), message
    odd = {name: value for name, value in jobs.channels.items() if not isinstance(value, ChannelSpec)}
    for name, given in odd.items():
        yield f"{attribute}.channels.{name}", f"is {shown(given)}, not a ChannelSpec; write ChannelSpec(apprise=[…])"
    for path, message in () if odd else channel_faults(jobs.channels):
        yield written((attribute, "channels", *path)), message


def _import_problems(reference: str, error: BaseException) -> Iterator[Problem]:
    at = _raised_at(error) or Location(reference)
    if isinstance(error, ValidationError) and error.title in spec.__all__:
        model: type[Spec] = getattr(spec, error.title)
        for fault in error.errors(include_url=False):
            yield Problem(at, written((error.title, *path_of(model, fault))), worded(model, fault))
        return
    text = str(error.msg if isinstance(error, SyntaxError) else error).partition("\n")[0]
    message = f"cannot be imported: {type(error).__name__}: {text}; write the path of a module that imports"
    yield Problem(at, "", message)


def _raised_at(error: BaseException) -> Location | None:
    """The last line of the user's own code: that of the module's directory, without what is installed below it."""
    if isinstance(error, SyntaxError) and error.filename:
        return Location(_relative(error.filename), error.lineno or 1, error.offset or 1)
    outside = {__file__, importlib.__file__}
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if Path(frame.filename).is_absolute() and frame.filename not in outside
    ]
    roots = [Path(frame.filename).parent for frame in frames[:1]]
    own = [frame for frame in frames if any(_is_below(Path(frame.filename), root) for root in roots)]
    return Location(_relative(own[-1].filename), own[-1].lineno or 1, 1) if own else None


def _is_below(file: Path, root: Path) -> bool:
    return file.is_relative_to(root) and "site-packages" not in file.relative_to(root).parts


def _place_of(module: ModuleType, reference: str, attribute: str) -> Location:
    if not (file := getattr(module, "__file__", None)) or not file.endswith(".py"):
        return Location(reference)
    for statement in ast.parse(Path(file).read_bytes()).body:
        targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
        if any(isinstance(target, ast.Name) and target.id == attribute for target in targets):
            return Location(_relative(file), statement.lineno, statement.col_offset + 1)
    return Location(_relative(file), 1, 1)


def _relative(file: str) -> str:
    path, here = Path(file), Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else file
