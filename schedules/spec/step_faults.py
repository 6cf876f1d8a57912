"""Faults of a job's steps beside each other: names, needs, circles, limits. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from schedules.spec.steps import UNDO_RETRY, needs_of
from schedules.text.duration import format_duration
from schedules.text.nearest import suggestion

if TYPE_CHECKING:
    from schedules.spec.fields import FieldError
    from schedules.spec.job import JobSpec
    from schedules.spec.layers import Path
    from schedules.spec.retry import RetrySpec
    from schedules.spec.steps import CompensateSpec, StepSpec

Fault = tuple["Path", str]
LONGEST_ID = 255
OF_TIME = len("-2027-03-01T09:00:00Z")
OF_UNDO = len("/undo")


def step_faults(job: JobSpec) -> Iterator[Fault]:
    """Every fault as the path within the job and a message."""
    known = [step.name for step in job.steps]
    for index, step in enumerate(job.steps):
        at: Path = ("steps", index)
        if step.name in known[:index]:
            yield (*at, "name"), f"there is already a step `{step.name}`; give one of the two another name"
        yield from ((at + path, message) for path, message in (*_needs(step, known), *_limits(job, step)))
    yield from _deadline(job)
    yield from _circles(job.steps)
    yield from _never(job.steps)
    yield from _long_ids(job)


def _deadline(job: JobSpec) -> Iterator[Fault]:
    """A deadline that is too short for a step with the job's timeout is told once."""
    usual = next((step.name for step in job.steps if not step.timeout), None)
    if usual and job.deadline is not None and job.deadline < job.timeout:
        deadline, timeout = format_duration(job.deadline), format_duration(job.timeout)
        advice = f"write {timeout} or more, or give the step a timeout of its own"
        yield ("deadline",), f"{deadline} ends before one attempt of step `{usual}` can (timeout: {timeout}); {advice}"


def _needs(step: StepSpec, known: Sequence[str]) -> Iterator[Fault]:
    for place, name in enumerate(step.needs or ()):
        if name == step.name:
            yield ("needs", place), "a step cannot wait for itself; remove it"
        elif name not in known:
            others = [other for other in dict.fromkeys(known) if other != step.name]
            yield ("needs", place), f"there is no step `{name}`; {suggestion(name, others, 'steps')}"
        elif name in (step.needs or ())[:place]:
            yield ("needs", place), f"`{name}` is here twice; remove one"


def _circles(steps: Sequence[StepSpec]) -> Iterator[Fault]:
    """One fault a circle, at the first of its steps; there is none where each step waits for the one before it."""
    if not any(step.needs for step in steps):
        return
    needs = {step.name: needed or [] for step, needed in zip(steps, needs_of(steps), strict=True)}
    told: set[str] = set()
    for index, step in enumerate(steps):
        circle = _circle(step.name, needs)
        if circle and told.isdisjoint(circle):
            told |= set(circle)
            way = " → ".join(f"`{name}`" for name in circle)
            yield ("steps", index, "needs"), f"is a circle: {way}, each waits for the next; remove one of these"


def _circle(name: str, needs: dict[str, list[str]]) -> list[str]:
    """The way from a step back to itself by what it needs; empty for none. Longer than to itself at once."""
    ways = [[name, need] for need in needs[name] if need in needs and need != name]
    seen = {name}
    while ways:
        way = ways.pop(0)
        if way[-1] == name:
            return way
        if way[-1] not in seen:
            seen.add(way[-1])
            ways += [[*way, need] for need in needs[way[-1]] if need in needs and need != way[-1]]
    return []


def _never(steps: Sequence[StepSpec]) -> Iterator[Fault]:
    for index, (step, needs) in enumerate(zip(steps, needs_of(steps), strict=True)):
        first = index == 0 if needs is None else not needs
        if step.when == "on_failure" and first:
            yield (
                ("steps", index, "when"),
                "no step comes before this one, so none can have failed; name steps in `needs`, or put it after them",
            )


def _long_ids(job: JobSpec) -> Iterator[Fault]:
    """Workflows that run as children: their ids are made of the job's name, the time and the step's name."""
    before = len(job.name) + OF_TIME + len("/")
    for index, step in enumerate(job.steps):
        behind = OF_UNDO if step.compensate and step.compensate.handler.child else 0
        length = before + len(step.name) + behind
        if (step.handler.child or behind) and length > LONGEST_ID:
            longest = len(step.name) - (length - LONGEST_ID)
            advice = f"write a name of {longest} at most, or " if longest > 0 else ""
            held = f"and databases of self-hosted servers hold {LONGEST_ID}"
            message = (
                f"the id of its workflow would have {length} characters, {held}; {advice}give the job a shorter name"
            )
            yield ("steps", index, "name"), message


def _limits(job: JobSpec, step: StepSpec) -> Iterator[Fault]:
    if job.deadline is not None and step.timeout and job.deadline < step.timeout:
        deadline, longest = format_duration(job.deadline), format_duration(step.timeout)
        yield ("timeout",), f"{longest} is longer than the job's deadline: {deadline}; write {deadline} or less"
    if step.retry and (fault := retry_of(job, step).wait_too_long(step.retry)):
        yield _as_fault(fault)
    undo = step.compensate
    if undo and undo.retry and (fault := undo_retry_of(undo).wait_too_long(undo.retry)):
        path, message = _as_fault(fault)
        yield ("compensate", *path), message
    if step.handler.child and step.start_timeout:
        message = "a workflow that waits for a worker has already started; remove it, or give the workflow a timeout"
        yield ("start_timeout",), message
    for path, handlers in (((), step), (("compensate",), undo)):
        if handlers and handlers.direct:
            message = "a schedule can start one workflow itself, but no steps; write it as the job's `run`, or remove `direct`"
            yield (*path, "workflow", "direct"), message


def _as_fault(fault: FieldError) -> Fault:
    return fault.field, str(fault)


def retry_of(job: JobSpec, step: StepSpec) -> RetrySpec:
    """The step's retries over the job's."""
    return step.retry.over(job.retry) if step.retry else job.retry


def undo_retry_of(undo: CompensateSpec) -> RetrySpec:
    """The compensation's retries over the usual ones."""
    return undo.retry.over(UNDO_RETRY) if undo.retry else UNDO_RETRY
