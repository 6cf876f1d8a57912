"""From a schedule on the server back to a job of a spec file, for schedules that others made. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from activities.occurrence import stamp
from schedules.compile.job import compile_job
from schedules.cron import CronError
from schedules.cron.notation.literal import literal_text
from schedules.lint.parameters import check_job
from schedules.model import Retry
from schedules.plan.differences import differences, short
from schedules.plan.fingerprint import ATTRIBUTES, marks
from schedules.spec.job import JobSpec
from schedules.text.duration import format_duration
from schedules.text.shown import shown

if TYPE_CHECKING:
    from schedules.model import Action, ObservedSchedule, Policies, Times
    from schedules.plan.differences import FieldDiff

USUAL_TIMEOUT = timedelta(hours=1)
"""A job must name one; one that starts its workflow directly does not use it."""
ANEW = "a sync keeps this, but a new schedule would not have it"


@dataclass(frozen=True, slots=True)
class Exported:
    """A job as data for a spec file, None where it cannot be one, and all that would be lost with it.

    `kept` is what a sync leaves alone and a schedule made anew would not have.
    """

    id: str
    job: dict[str, Any] | None
    lost: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()


def export_schedule(observed: ObservedSchedule, project: str, now: datetime) -> Exported:
    """The job that compiles to this very schedule, tried out: what still differs then is said to be lost."""
    if observed.unreadable:
        return Exported(observed.id, None, (observed.unreadable,))
    unreadable = [item.field for item in observed.other if item.field.startswith(("action.args", "action.memo"))]
    if unreadable:
        return Exported(observed.id, None, tuple(f"{name} is not JSON, so no spec can hold it" for name in unreadable))
    data = job_data(observed)
    try:
        job = JobSpec.model_validate({"name": observed.id, "timeout": USUAL_TIMEOUT, **data})
    except ValidationError as error:
        return Exported(observed.id, None, tuple(_messages(error)))
    if problems := [message for _, message in check_job(job)]:
        return Exported(observed.id, None, tuple(problems))
    try:
        compiled = compile_job(job, project, "default", now)
    except CronError as error:
        return Exported(observed.id, None, (str(error),))
    marked = {**observed.search_attributes, **marks(compiled)}
    adopted = replace(observed, search_attributes=marked, encryption=compiled.encryption)
    return Exported(observed.id, data, tuple(_lost(differences(compiled, adopted))), tuple(_kept(observed)))


def job_data(observed: ObservedSchedule) -> dict[str, Any]:
    """The job in the words of the spec format, those left out that are as usual."""
    times, action = observed.times, observed.action
    job = {
        "timezone": times.timezone,
        "schedule": [*_calendars(times), *_intervals(times)],
        "jitter": _duration(times.jitter) if times.jitter else None,
        "overlap": observed.policies.overlap,
        "task_queue": action.task_queue,
        "run": {
            "workflow": _given({"type": action.workflow_type, "args": list(action.args), "direct": _direct(observed)})
        },
    }
    return _given(job)


def _calendars(times: Times) -> Iterator[dict[str, str]]:
    return ({"calendar": literal_text(calendar)} for calendar in times.calendars)


def _intervals(times: Times) -> Iterator[dict[str, str]]:
    for interval in times.intervals:
        yield {"every": _duration(interval.every)} | ({"offset": _duration(interval.offset)} if interval.offset else {})


def _direct(observed: ObservedSchedule) -> dict[str, Any]:
    times, action, policies = observed.times, observed.action, observed.policies
    return _given({"id": action.workflow_id, **_of_action(action), **_of_policies(policies), **_of_times(times)})


def _of_action(action: Action) -> dict[str, Any]:
    return {
        "execution_timeout": _duration(action.execution_timeout) if action.execution_timeout else None,
        "run_timeout": _duration(action.run_timeout) if action.run_timeout else None,
        "task_timeout": _duration(action.task_timeout) if action.task_timeout else None,
        "retry": _retry(action.retry) if action.retry else None,
        "memo": dict(action.memo),
        "search_attributes": dict(action.search_attributes),
        "summary": action.summary,
        "details": action.details,
    }


def _of_policies(policies: Policies) -> dict[str, Any]:
    return {"catchup_window": _duration(policies.catchup_window), "pause_on_failure": policies.pause_on_failure}


def _of_times(times: Times) -> dict[str, Any]:
    return {
        "exclude": [literal_text(calendar) for calendar in times.exclusions],
        "start_at": _instant(times.start_at),
        "end_at": _instant(times.end_at),
    }


def _retry(retry: Retry) -> dict[str, Any]:
    return {
        "max_attempts": retry.max_attempts,
        "initial_ms": retry.initial_ms,
        "coefficient": retry.coefficient,
        "max_ms": retry.max_ms,
        "non_retryable": list(retry.non_retryable),
    }


def _given(fields: dict[str, Any]) -> dict[str, Any]:
    """Those that say something; `direct: {}` does."""
    return {
        name: value
        for name, value in fields.items()
        if name == "direct" or (value not in (None, "", [], {}) and value is not False)
    }


def _duration(seconds: int) -> str:
    return format_duration(timedelta(seconds=seconds))


def _instant(at: datetime | None) -> str | None:
    return stamp(at) if at else None


def _messages(error: ValidationError) -> Iterator[str]:
    for fault in error.errors(include_url=False):
        place = ".".join(map(str, fault["loc"]))
        yield f"{place}: {fault['msg'].removeprefix('Value error, ')}"


def _lost(found: Iterable[FieldDiff]) -> Iterator[str]:
    for diff in found:
        yield f"{diff.field} is {short(diff.before)}, and would become {short(diff.after)}"


def _kept(observed: ObservedSchedule) -> Iterator[str]:
    """What is set on the schedule itself and belongs to operators."""
    state = observed.state
    if state.remaining_actions is not None:
        yield f"only {state.remaining_actions} more starts are allowed: {ANEW}"
    if state.paused:
        yield f"it is paused: {ANEW}"
    if state.note:
        yield f"its note is {shown(state.note)}: {ANEW}"
    if observed.memo:
        yield f"its memo has {', '.join(observed.memo)}: {ANEW}"
    if attributes := sorted(name for name in observed.search_attributes if name not in ATTRIBUTES):
        yield f"it has search attributes of its own, {', '.join(attributes)}: {ANEW}"
