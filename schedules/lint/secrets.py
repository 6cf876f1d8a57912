"""Findings about secrets: those that are none by their names, whose values would be masked in ordinary text. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from activities.steps.template import secrets_used
from schedules.compile.steps import compile_steps
from schedules.lint.finding import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from schedules.spec.job import JobSpec

_ORDINARY = re.compile(
    r"(?:.*_)?(?:USER|USERNAME|LOGIN|HOST|HOSTNAME|PORT|DATABASE|DB|DBNAME|DB_NAME|SCHEMA|REGION|BUCKET|ENV|ENVIRONMENT|PIN)",
    re.IGNORECASE,
)


def secret_findings(job: JobSpec) -> Iterator[Finding]:
    """One for each name, at the job: a secret `DB_USER` that is `app` would take `app` out of every path in an output."""
    if job.direct:
        return
    steps = [each for step in compile_steps(job) for each in (step, step.compensate) if each]
    names = dict.fromkeys(
        name
        for step in steps
        for path, name in secrets_used(step.params)
        if (step.handler, path) != ("sql", ("connection",))  # The address of a database, whatever it is called.
    )
    for name in names:
        if _ORDINARY.fullmatch(name):
            yield Finding(
                "secret-ordinary",
                f"`{name}` is a secret whose value may occur in ordinary text; it is masked there, and a later step that "
                "uses such a text fails; write the value into the spec, or make it part of a longer secret",
                ("steps",) if job.steps else ("run",),
                job.name,
            )
