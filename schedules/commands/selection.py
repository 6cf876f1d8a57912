"""Which jobs a command that reads is about: those of spec files, of an owner, or all; narrowed by name and label."""

from __future__ import annotations

from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from schedules.commands.options import given_registry, project_options
from schedules.commands.reading import owner_option
from schedules.errors import SettingsError
from schedules.text.nearest import suggestion

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping, Sequence

    from schedules.ledger.facts import Job
    from schedules.model import Times
    from schedules.spec.job import JobSpec
    from schedules.spec.project import Project


GLOB = frozenset("*?[")


@dataclass(frozen=True)
class Selection:
    """`times` are those that the spec files compile to; None without files. `owner` None stands for every one."""

    owner: str | None
    glob: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    jobs: Mapping[str, JobSpec] | None = None
    times: Mapping[str, Times] = field(default_factory=dict)
    project: Project | None = None

    def takes(self, name: str) -> bool:
        """Whether a job is meant."""
        if self.jobs is not None:
            job = self.jobs.get(name)
            if job is None or not self.labels.items() <= dict(job.labels).items():
                return False
        return not self.glob or fnmatchcase(name, self.glob)

    @property
    def whole(self) -> bool:
        """Whether all jobs of the owner are meant."""
        return not self.glob and not self.labels


def check_found(meant: Selection, listed: Sequence[Job], all_jobs: Sequence[Job]) -> None:
    """Raises SettingsError for a selection that means nothing; `listed` are the owner's jobs, `all_jobs` those of all owners."""
    if hint := _nothing_found(meant, listed, all_jobs):
        raise SettingsError(hint)


def _nothing_found(meant: Selection, listed: Sequence[Job], all_jobs: Sequence[Job]) -> str:
    """Why a selection means no job, with near names; empty where it means one, or all of a namespace without any."""
    names = sorted({*(job.name for job in listed), *(meant.jobs or {})})
    if any(meant.takes(name) for name in names):
        return ""
    if meant.owner and meant.jobs is None and not names:
        return f"--owner {meant.owner}: {suggestion(meant.owner, sorted({job.owner for job in all_jobs}), 'owners')}"
    if meant.glob and not GLOB.isdisjoint(meant.glob):
        return f"--job '{meant.glob}': no job has such a name; {suggestion('', names, 'jobs')}"
    if meant.glob and meant.glob not in names:
        return f"--job {meant.glob}: {suggestion(meant.glob, names, 'jobs')}"
    return "--label: no job of the files has these labels" if meant.labels else ""


def selection_options(parser: argparse.ArgumentParser) -> None:
    """Paths, owner, glob and labels."""
    parser.add_argument(
        "paths", nargs="*", metavar="PATH", help="spec files: their jobs are meant, with or without a schedule"
    )
    project_options(parser)
    owner_option(parser)
    parser.add_argument("--job", default="", metavar="GLOB", help="only jobs with such a name, for example 'billing-*'")
    parser.add_argument(
        "--label",
        action="append",
        default=[],
        metavar="K=V",
        help="only jobs with this label; needs a PATH; may be repeated",
    )


def selected(options: argparse.Namespace) -> Selection:
    """What the options say. Raises SettingsError or SpecError."""
    labels = dict(_label(text) for text in options.label)
    if not options.paths:
        if labels:
            raise SettingsError("--label: labels stand in the spec files; give their PATH as well")
        if options.env is not None:
            raise SettingsError(_env_without_files(options.owner))
        return Selection(_owner(options.owner), options.job)
    if options.owner:
        raise SettingsError(
            "--owner: the files of the PATHs name their project, and --env the environment; leave it out"
        )
    from datetime import UTC, datetime

    from schedules.lint.load import load_readable

    project, times = load_readable(options.paths, options.env, given_registry(options), datetime.now(UTC))
    jobs = {job.name: job for job in project.jobs}
    return Selection(
        project.owner, options.job, labels, jobs, {name: found.times for name, found in times.items()}, project
    )


def _env_without_files(owner: str | None) -> str:
    other = "or leave it out: --owner names the environment" if owner else "or name the --owner, project/environment"
    return f"--env: environments stand in the spec files; give their PATH as well, {other}"


def _label(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise SettingsError(f"--label {text}: write name=value, for example team=billing")
    return name, value


def _owner(text: str | None) -> str | None:
    from schedules.spec.fields import check_owner_part

    if text is None:
        return None
    project, slash, environment = text.partition("/")
    if not slash:
        raise SettingsError(f"--owner {text}: write project/environment, for example billing/production")
    try:
        return f"{check_owner_part(project)}/{check_owner_part(environment)}"
    except ValueError as error:
        raise SettingsError(f"--owner {text}: {error}") from None
