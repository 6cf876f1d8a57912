"""An import from beginning to end: loaded jobs get names, a proof of their times and lint's opinion, and become a spec file."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from schedules.cron import CronError
from schedules.errors import SpecError
from schedules.importing.naming import named
from schedules.importing.old_job import CLASSES, Dropped, JobClass, Loaded, OldJob, Remark
from schedules.importing.proof import Proof, clocks_matter, prove
from schedules.importing.writer import spec_text
from schedules.lint.finding import Finding
from schedules.lint.findings import findings
from schedules.lint.load import load_readable
from schedules.spec.job import JobSpec
from schedules.text.duration import parse_duration
from schedules.text.zone import check_timezone


@dataclass(frozen=True, slots=True)
class Settings:
    """What the person who imports has said. `timeout` is a duration as in a spec file."""

    project: str
    timezone: str
    timeout: str


@dataclass(frozen=True, slots=True)
class Imported:
    """The jobs by their new names, the proof of each whose times are known, what was left out, and the spec file's text."""

    jobs: Mapping[str, OldJob]
    proofs: Mapping[str, Proof]
    dropped: Sequence[Dropped]
    text: str
    counts: Mapping[JobClass, int] = field(default_factory=dict)

    @property
    def unread(self) -> int:
        """How many parts were left out that may be jobs."""
        return sum(not each.no_job for each in self.dropped)


def import_jobs(loaded: Loaded, settings: Settings, now: datetime) -> Imported:
    """Every job with its proof; whatever lint would say of the file is among the remarks."""
    jobs, proofs = dict[str, OldJob](), dict[str, Proof]()
    for name, job in named(list(map(_in_a_zone, loaded.jobs))).items():
        jobs[name], proof = _proven(name, _clock_policy(job, now), settings, now)
        if proof is not None:
            proofs[name] = proof
    jobs = _linted(jobs, loaded.dropped, settings, now)
    counts = {each: sum(job.job_class == each for job in jobs.values()) for each in CLASSES}
    return Imported(jobs, proofs, loaded.dropped, _text(jobs, loaded.dropped, settings), counts)


def _text(jobs: Mapping[str, OldJob], dropped: Sequence[Dropped], settings: Settings) -> str:
    return spec_text(jobs, dropped, settings.project, settings.timezone, settings.timeout)


def _in_a_zone(job: OldJob) -> OldJob:
    """A zone that there is not has no times to compare; that it is none is said where the spec is checked."""
    if "timezone" not in job.job:
        return job
    try:
        check_timezone(str(job.job["timezone"]))
    except ValueError:
        return replace(job, rule=None)
    return job


def _clock_policy(job: OldJob, now: datetime) -> OldJob:
    """Keeps `dst` only where a change of clocks matters to the job, and then says so."""
    if "dst" not in job.job:
        return job
    if job.rule is not None and clocks_matter(job.rule, now):
        dst = job.job["dst"]
        text = f"clock changes as before: a time that does not exist is `gap: {dst['gap']}`, one that happens twice `repeat: {dst['repeat']}`"
        return job.saying(Remark("dst", "kept", text))
    return replace(job, job={key: value for key, value in job.job.items() if key != "dst"})


def _proven(name: str, job: OldJob, settings: Settings, now: datetime) -> tuple[OldJob, Proof | None]:
    """The job and its proof. A spec that cannot be made, or times that differ without a reason, change its class."""
    if job.job_class == "cannot":
        return job, None
    job = _within_deadline(job, settings)
    try:
        spec = JobSpec.model_validate(
            {"name": name, "timezone": settings.timezone, "timeout": settings.timeout, **job.job}
        )
    except ValidationError as error:
        return job.saying(
            *(Remark("spec", "question", _message(each)) for each in error.errors(include_url=False))
        ), None
    if job.rule is None:
        return job, None
    try:
        proof = prove(job.rule, spec, now)
    except CronError as error:
        return job.saying(Remark("spec", "question", str(error))), None
    if proof.equal:
        return job, proof
    if proof.explained:
        return job.saying(Remark("clock-change", "changed", "its times differ on days on which clocks change")), proof
    return job.saying(
        Remark("times", "question", "its times would differ: compare them below, and write the schedule anew")
    ), proof


def _within_deadline(job: OldJob, settings: Settings) -> OldJob:
    """An attempt must not be allowed to last longer than the whole run."""
    deadline, timeout = job.job.get("deadline"), job.job.get("timeout", settings.timeout)
    if deadline is None or "steps" in job.job or parse_duration(deadline) >= parse_duration(timeout):
        return job
    return replace(job, job={**job.job, "timeout": deadline})


def _message(error: Any) -> str:
    place = ".".join(str(part) for part in error["loc"] if part not in {"function-before", "function-after"})
    return f"{place}: {error['msg'].removeprefix('Value error, ')}".removeprefix(": ")


def _linted(
    jobs: dict[str, OldJob], dropped: Sequence[Dropped], settings: Settings, now: datetime
) -> dict[str, OldJob]:
    """Adds what lint says of the written jobs: errors as questions, warnings as changes."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "imported.yaml")
        for _ in range(2):  # the second time without the jobs that cannot be read
            path.write_text(_text(jobs, dropped, settings), encoding="utf-8")
            try:
                project, times = load_readable([str(path)], None, None, now)
            except SpecError as error:
                for problem in error.problems:
                    name = problem.path.removeprefix("jobs.").partition(".")[0]
                    if name in jobs:
                        jobs[name] = jobs[name].saying(Remark("spec", "question", f"{problem.path}: {problem.message}"))
                continue
            for finding in findings(project, times, now):
                if finding.job in jobs:
                    jobs[finding.job] = _with_finding(jobs[finding.job], finding)
            break
    return jobs


def _with_finding(job: OldJob, finding: Finding) -> OldJob:
    """An error is a question. A warning about what was so before is ignored in the file, and told here."""
    if finding.severity == "error":
        return job.saying(Remark(f"lint-{finding.id}", "question", finding.message))
    if finding.severity == "info":
        return job
    ignored = job.job.get("lint", {"ignore": []})["ignore"]
    if finding.id not in ignored:
        job = replace(job, job={**job.job, "lint": {"ignore": [*ignored, finding.id]}})
    return job.saying(Remark(f"lint-{finding.id}", "kept", f"as before, and ignored by lint: {finding.message}"))
