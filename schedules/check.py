"""What the models cannot see: templates, secrets, and parameters of handlers, checked before anything is applied. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from activities.secrets import refuse_secrets
from activities.template import NAMES, STABLE_NAMES, check, names_used
from schedules.compile import handler_of
from schedules.spec import AtEntry

if TYPE_CHECKING:
    from collections.abc import Iterator

    from activities.errors import Problem
    from activities.registry import HandlerRegistry
    from schedules.layers import Path
    from schedules.spec import JobSpec


def check_job(job: JobSpec, registry: HandlerRegistry | None = None) -> Iterator[tuple[Path, str]]:
    """Every problem of a job as the path within it and a message; without a registry, `python` parameters go unchecked."""
    if job.run.workflow and job.run.workflow.direct:
        for problem in refuse_secrets(job.run.workflow.args):
            yield ("run", "workflow", "args", *problem.path), problem.message
        return
    kind, params = handler_of(job.run)
    for problem in _problems(job, kind, params, registry):
        yield ("run", kind, *problem.path), problem.message
    if all(isinstance(entry, AtEntry) for entry in job.schedule) and "interval_start" in names_used(params):
        yield (
            ("run", kind),
            "`interval_start` is the scheduled time before, and a job that runs once has none; use `scheduled_at`",
        )
    if kind == "workflow" and job.retry.backoff == "linear":
        yield (
            ("retry", "backoff"),
            "a workflow is retried by the server, which knows no linear; write exponential or fixed",
        )


def _problems(job: JobSpec, kind: str, params: dict[str, Any], registry: HandlerRegistry | None) -> Iterator[Problem]:
    if kind == "workflow":
        yield from check(params, STABLE_NAMES)
        yield from refuse_secrets(params)
        return
    # What is sent under an Idempotency-Key must be the same in every attempt.
    body = {name: params[name] for name in ("json", "body") if name in params and kind == "http"}
    yield from check(body, STABLE_NAMES)
    yield from check({name: value for name, value in params.items() if name not in body}, NAMES)
    if job.run.python is not None and registry is not None:
        yield from registry.check_params(job.run.python.handler, job.run.python.params)
