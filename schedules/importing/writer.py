"""Imported jobs as the text of a spec file: the same for the same input, with the old line above each job. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from schedules.importing.old_job import Dropped, OldJob
from schedules.text.shown import printable
from schedules.text.yaml import yaml_text

HEAD: Final = """\
# Written by `tickwright import`. Each job has the line that it comes from above it. A job that is commented out waits for an answer.
version: 1
project: {project}
defaults:
  timezone: {timezone}
  timeout: {timeout}
jobs:{none}
"""
LONGEST_COMMENT: Final = 200


def spec_text(jobs: Mapping[str, OldJob], dropped: Sequence[Dropped], project: str, timezone: str, timeout: str) -> str:
    """The file. `timezone` and `timeout` become its defaults; a job has its own where they differ."""
    written = any(_is_written(job) for job in jobs.values())
    parts = [HEAD.format(project=project, timezone=timezone, timeout=timeout, none="" if written else " {}")]
    for name, job in jobs.items():
        parts.append("\n".join(_job_lines(name, job, timezone)) + "\n")
    parts.extend(f"# left out: {_comment(each.file)}:{each.line}: {_comment(each.text)}\n" for each in dropped)
    return "".join(parts)


def _is_written(job: OldJob) -> bool:
    return job.job_class in {"exact", "changed"}


def _job_lines(name: str, job: OldJob, timezone: str) -> Iterator[str]:
    yield f"  # from {_comment(job.place)}"
    yield f"  # {_comment(job.source)}"
    if not _is_written(job):
        for remark in job.remarks:
            if remark.kind in {"question", "refused"}:
                yield f"  # {'question' if remark.kind == 'question' else 'cannot be imported'}: {_comment(remark.text)}"
    if job.job_class == "cannot":
        return
    mark = "" if _is_written(job) else "# "
    for line in yaml_text({name: job_data(job, timezone)}).rstrip("\n").split("\n"):
        yield f"  {mark}{line}".rstrip()


def job_data(job: OldJob, timezone: str) -> dict[str, Any]:
    """The job's keys, without those that the file's defaults say."""
    return {key: value for key, value in job.job.items() if not (key == "timezone" and value == timezone)}


def _comment(text: str) -> str:
    """One printable line of bounded length."""
    line = printable(" ".join(text.split()))
    return line if len(line) <= LONGEST_COMMENT else line[: LONGEST_COMMENT - 1] + "…"
