"""Faults that the models cannot see: templates, secrets and parameters of handlers. Pure."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from activities.steps.graph import ancestors, needs_of
from activities.steps.secrets import refuse_secrets
from activities.steps.step_output import STEPS
from activities.steps.template import names_used
from schedules.compile.steps import compile_steps
from schedules.spec.entries import AtEntry
from schedules.spec.handlers import KINDS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from activities.contract import RetryRequest, StepRequest
    from activities.registry import HandlerRegistry
    from schedules.spec.job import JobSpec
    from schedules.spec.layers import Path

MOST_BYTES = 1_000_000
"""Of a job's steps: the server takes 2 MiB, in which the times and the channels are as well."""


@dataclass(frozen=True)
class Checked:
    """One handler of a job: where it stands, where its retries do, what it is given, and the names of outputs that it may use."""

    path: Path
    retry_path: Path
    handler: str
    params: dict[str, Any]
    retry: RetryRequest
    outputs: frozenset[str] = frozenset()


def check_job(
    job: JobSpec, registry: HandlerRegistry | None = None, *, ordered: bool = True
) -> Iterator[tuple[Path, str]]:
    """Every problem of a job as the path within it and a message; without a registry, `python` parameters go unchecked.

    `ordered` says that the steps agree with each other; otherwise each may use the output of any.
    """
    if job.run and job.run.workflow and job.direct:
        for problem in refuse_secrets(job.run.workflow.args):
            yield ("run", "workflow", "args", *problem.path), problem.message
        return
    if (size := len(json.dumps([asdict(step) for step in compile_steps(job)]))) > MOST_BYTES:
        message = (
            f"gives each run {size:,} bytes of input; write at most {MOST_BYTES:,}, and hand larger data over in files"
        )
        yield ("run",) if job.run else ("steps",), message
        return
    for checked in _handlers(job, ordered=ordered):
        at, kind = (*checked.path, checked.handler), KINDS[checked.handler]
        for problem in kind.find_problems(checked.params, checked.outputs, registry):
            yield (*at, *problem.path), problem.message
        yield from ((at, message) for message in _times(job, names_used(checked.params)))
        if kind.child and checked.retry.backoff == "linear":
            yield (
                (*checked.retry_path, "retry", "backoff"),
                "the server retries a workflow, and it does not support linear; write exponential or fixed",
            )


def _handlers(job: JobSpec, *, ordered: bool) -> Iterator[Checked]:
    steps = compile_steps(job)
    if job.run:
        yield Checked(("run",), (), steps[0].handler, steps[0].params, steps[0].retry)
        return
    needs, names = needs_of(steps), frozenset(step.name for step in steps)
    for index, (spec, step) in enumerate(zip(job.steps, steps, strict=True)):
        at: Path = ("steps", index)
        before = ancestors(step.name, needs) if ordered else names
        yield _checked(at, at if spec.retry and "backoff" in spec.retry.model_fields_set else (), step, before)
        if step.compensate:
            undo = (*at, "compensate")
            yield _checked(undo, undo, step.compensate, before | {step.name})


def _checked(path: Path, retry_path: Path, step: StepRequest, outputs: frozenset[str]) -> Checked:
    names = frozenset(f"{STEPS}{name}" for name in outputs)
    return Checked(path, retry_path, step.handler, step.params, step.retry, names)


def _times(job: JobSpec, used: set[str]) -> Iterator[str]:
    once = all(isinstance(entry, AtEntry) for entry in job.schedule)
    for name in sorted(used & {"interval_start", "last_success"}) if once else ():
        yield f"`{name}` is an earlier scheduled time, and a job that runs once has none; use `scheduled_at`"
    if "last_success" in used and job.overlap == "allow_all":
        yield (
            "`last_success` is not known if runs may overlap (overlap: allow_all); choose another overlap, or "
            "use `interval_start`"
        )
