"""Findings at their places in the files."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from schedules.errors import Location, Problem

if TYPE_CHECKING:
    from collections.abc import Iterable

    from schedules.lint.finding import Finding
    from schedules.source.locate import Locator


def placed(findings: Iterable[Finding], locator: Locator) -> list[Problem]:
    """The findings with their places; one without a job and a file is about all jobs together."""
    found = []
    for each in findings:
        if each.job:
            problem = locator.problem(each.job, each.path, each.message)
        elif each.file:
            problem = locator.of_file(each.file, each.path, each.message)
        else:
            problem = Problem(Location(""), "", each.message)
        found.append(replace(problem, id=each.id, severity=each.severity, job=each.job))
    return found
