"""A job in words, for the people who meet it in the Web UI; and read again, for what the schedule keeps nowhere else."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from schedules.spec.entries import AtEntry, BusinessDayEntry, CalendarEntry, CronEntry, EveryEntry, ScheduleEntry
from schedules.spec.job import DstSpec, JobSpec
from schedules.spec.steps import StepSpec
from schedules.text.duration import format_duration

if TYPE_CHECKING:
    from datetime import timedelta

SCHEDULE = re.compile(
    r"^\*\*Schedule\*\* `(?P<text>.*)` in (?P<timezone>[^\s,]+)(?:, gap (?P<gap>\w+))?(?:, repeat (?P<repeat>\w+))?$",
    re.MULTILINE,
)
CALENDARS = re.compile(
    r"(?P<schedule>.*?)(?:, only (?P<only>.+?))?(?:, except (?P<without>.+?))?(?:, on_holiday (?P<on_holiday>\w+))?"
)
LINE = re.compile(r"^\*\*(\w+)\*\* (.*)$", re.MULTILINE)
USUAL_GAP, USUAL_REPEAT = "run_after", "first"


def describe_job(job: JobSpec, owner: str) -> str:
    """Markdown: what was written, for where, and within which limits."""
    lines = [
        f"**Job** `{job.name}` of `{owner}`",
        f"**Schedule** `{schedule_text(job)}` in {job.timezone}{_clock_changes(job)}",
        f"**Runs** {job.run.handler.described() if job.run else _steps(job)}",
        f"**Limits** {_limits(job)}",
    ]
    if job.labels:
        lines.append("**Labels** " + ", ".join(f"{name}={value}" for name, value in sorted(job.labels.items())))
    lines += [f"**{word}** {said}" for word, said in (("Contact", job.contact), ("Runbook", job.runbook)) if said]
    if job.description:
        lines.append(job.description.strip())
    return "\n\n".join(lines)


def schedule_text(job: JobSpec) -> str:
    """The schedule as it was written."""
    return ", ".join(entry_text(entry) for entry in job.schedule) + calendars_text(job)


def calendars_text(job: JobSpec) -> str:
    """What calendars have to say, with a comma before it; empty where they have none."""
    parts = [f"{word} {' and '.join(names)}" for word, names in (("only", job.only), ("except", job.without)) if names]
    if job.on_holiday != "skip":
        parts.append(f"on_holiday {job.on_holiday}")
    return "".join(f", {part}" for part in parts)


def entry_text(entry: ScheduleEntry) -> str:
    """One entry as it was written."""
    match entry:
        case CronEntry():
            return entry.cron if entry.dialect == "cron" else f"{entry.cron} ({entry.dialect})"
        case EveryEntry():
            return f"every {format_duration(entry.every)}" + (_offset(entry.offset) if entry.offset else "")
        case AtEntry():
            return f"at {entry.at.isoformat()}"
        case BusinessDayEntry():
            return f"business day {entry.business_day} at {entry.at.isoformat()}"
        case CalendarEntry():
            return f"calendar {entry.calendar}"


def _clock_changes(job: JobSpec) -> str:
    """How they are met, as far as that is not as usual."""
    usual, parts = DstSpec(), (("gap", job.dst.gap), ("repeat", job.dst.repeat))
    return "".join(f", {name} {value}" for name, value in parts if value != getattr(usual, name))


def _offset(offset: timedelta) -> str:
    return f" + {format_duration(offset)}"


def _steps(job: JobSpec) -> str:
    """A list: the steps in their order, each with what is particular about it."""
    return f"{len(job.steps)} steps\n" + "\n".join(f"- `{step.name}`: {_step(step)}" for step in job.steps)


def _step(step: StepSpec) -> str:
    parts = [
        step.handler.described(),
        f"after {', '.join(step.needs)}" if step.needs else "",
        "" if step.when == "on_success" else step.when.replace("_", " "),
        f"timeout {format_duration(step.timeout)}" if step.timeout else "",
        f"on task queue {step.task_queue}" if step.task_queue else "",
        f"taken back by {step.compensate.handler.described()}" if step.compensate else "",
    ]
    return ", ".join(part for part in parts if part)


def _limits(job: JobSpec) -> str:
    retry = job.retry
    attempts = "1 attempt"
    if retry.max_attempts > 1:
        wait = f"{format_duration(retry.initial)} to {format_duration(retry.max)}"
        attempts = f"{retry.max_attempts} attempts ({retry.backoff}, {wait})"
    deadline = f", deadline {format_duration(job.deadline)}" if job.deadline else ""
    return f"timeout {format_duration(job.timeout)}, {attempts}{deadline}, overlap {job.overlap}"


@dataclass(frozen=True, slots=True)
class Written:
    """What the details of a schedule say of its file; empty where they say nothing."""

    schedule: str = ""
    timezone: str = ""
    gap: str = USUAL_GAP
    repeat: str = USUAL_REPEAT
    runs: str = ""
    limits: str = ""
    labels: str = ""
    contact: str = ""
    runbook: str = ""
    description: str = ""

    @property
    def calendars(self) -> dict[str, str]:
        """The parts of the schedule's text by their keys in the file: `schedule`, `only`, `except` and `on_holiday`; empty ones, too."""
        found = CALENDARS.fullmatch(self.schedule)
        parts = {name: text or "" for name, text in found.groupdict().items()} if found else {}
        return {"except" if name == "without" else name: text for name, text in parts.items()}


def written_of(details: str) -> Written:
    """Reads `describe_job`; text of somebody else gives an empty one."""
    if not (found := SCHEDULE.search(details)):
        return Written()
    lines = dict(LINE.findall(details))
    *_, last = details.split("\n\n")
    rest = details.rpartition("\n\n**")[2].partition("\n\n")[2] if last and not last.startswith("**") else ""
    return Written(
        schedule=found["text"],
        timezone=found["timezone"],
        gap=found["gap"] or USUAL_GAP,
        repeat=found["repeat"] or USUAL_REPEAT,
        runs=lines.get("Runs", ""),
        limits=lines.get("Limits", ""),
        labels=lines.get("Labels", ""),
        contact=lines.get("Contact", ""),
        runbook=lines.get("Runbook", ""),
        description=rest,
    )
