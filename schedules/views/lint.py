"""Findings of lint, as lines for a person and as a document for a program."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from schedules.text.shown import some_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from schedules.errors import Problem
    from schedules.spec.project import Project

MOST_LISTED = 10


def left_out_lines(names: Sequence[str]) -> list[str]:
    """One line about the files of folders that are not read as specs; none where there are none."""
    if not names:
        return []
    return [f"not read, because only .yaml, .yml and .json files are specs: {some_of(names, MOST_LISTED)}"]


def summary(project: Project, found: Sequence[Problem]) -> str:
    """One line about the whole."""
    jobs = len(project.sources)
    errors, warnings = (sum(each.severity == severity for each in found) for severity in ("error", "warning"))
    counts = [
        f"{count} {word}{'' if count == 1 else 's'}"
        for count, word in ((errors, "error"), (warnings, "warning"))
        if count
    ]
    return f"{project.owner if project.name else 'no project'}: {jobs} job{'' if jobs == 1 else 's'}, {' and '.join(counts) or 'no problem found'}"


def document(project: Project, found: Sequence[Problem]) -> dict[str, Any]:
    """The JSON document of `lint --output json`; the owner is null where no file could be read that names the project."""
    return {
        "owner": project.owner if project.name else None,
        "jobs": len(project.sources),
        "errors": sum(each.severity == "error" for each in found),
        "warnings": sum(each.severity == "warning" for each in found),
        "findings": [
            {"id": each.id, "severity": each.severity, "job": each.job or None, **_where(each)} for each in found
        ],
        "left_out": list(project.left_out),
    }


def _where(problem: Problem) -> dict[str, Any]:
    where = {**asdict(problem.place), "path": problem.path, "message": problem.message}
    return {name: value or None for name, value in where.items()}
