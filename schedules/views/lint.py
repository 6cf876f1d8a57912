"""What lint found, as lines for a person and as a document for a program."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from schedules.errors import SpecProblem

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from schedules.lint.finding import Finding, Severity
    from schedules.source.locate import Locator
    from schedules.spec.project import Project

MOST_LISTED = 10
UNREADABLE = "spec"
"""The id of what is wrong with a file or a job itself; it cannot be ignored."""


@dataclass(frozen=True, slots=True)
class Placed:
    """A finding at its place in a file; without a file it is about all jobs together."""

    id: str
    severity: Severity
    job: str
    problem: SpecProblem

    def line(self) -> str:
        """`file:line:column: key: warning: what is wrong; what to write instead [id]`."""
        word = "" if self.severity == "error" else f"{self.severity}: "
        problem = self.problem
        tail = "" if self.id == UNREADABLE else f" [{self.id}]"
        return str(
            SpecProblem(problem.file, problem.line, problem.column, problem.path, f"{word}{problem.message}{tail}")
        )


def placed(findings: Iterable[Finding], locator: Locator) -> list[Placed]:
    """The findings with their places."""
    found = []
    for each in findings:
        if each.job:
            problem = locator.problem(each.job, each.path, each.message)
        elif each.file:
            problem = locator.of_file(each.file, each.path, each.message)
        else:
            problem = SpecProblem("", 0, 0, "", each.message)
        found.append(Placed(each.id, each.severity, each.job, problem))
    return found


def unreadable(problems: Iterable[SpecProblem]) -> list[Placed]:
    """Problems for which there are no jobs to find more in."""
    return [Placed(UNREADABLE, "error", "", problem) for problem in problems]


def left_out_lines(names: Sequence[str]) -> list[str]:
    """One line about the files of folders that are not read as specs; none where there are none."""
    if not names:
        return []
    more = f" and {len(names) - MOST_LISTED:,} more" if len(names) > MOST_LISTED else ""
    return [f"left out, since only .yaml, .yml and .json are read: {', '.join(names[:MOST_LISTED])}{more}"]


def summary(project: Project, found: Sequence[Placed]) -> str:
    """One line about the whole."""
    jobs = len(project.jobs)
    errors, warnings = (sum(each.severity == severity for each in found) for severity in ("error", "warning"))
    counts = [
        f"{count} {word}{'' if count == 1 else 's'}"
        for count, word in ((errors, "error"), (warnings, "warning"))
        if count
    ]
    return f"{project.owner}: {jobs} job{'' if jobs == 1 else 's'}, {' and '.join(counts) or 'no problem found'}"


def document(owner: str | None, jobs: int, found: Sequence[Placed], left_out: Sequence[str] = ()) -> dict[str, Any]:
    """The JSON document of `lint --output json`; the owner is null where the files could not be read."""
    return {
        "owner": owner,
        "jobs": jobs,
        "errors": sum(each.severity == "error" for each in found),
        "warnings": sum(each.severity == "warning" for each in found),
        "findings": [
            {"id": each.id, "severity": each.severity, "job": each.job or None, **_where(each.problem)}
            for each in found
        ],
        "left_out": list(left_out),
    }


def _where(problem: SpecProblem) -> dict[str, Any]:
    return {name: value or None for name, value in asdict(problem).items()}
