"""Answers of `backfill`: the runs that it would start, and how they went."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from activities.contract import BACKFILL_PREFIX
from schedules.commands.options.reading import answer
from schedules.console.table import console, cut, one_line, table
from schedules.console.terminal import STDOUT, say
from schedules.operating.holes import progress_text
from schedules.views.occurrences import COLUMNS, occurrence_row, span_text

if TYPE_CHECKING:
    import argparse
    from datetime import timedelta

    from schedules.ledger.facts import Job
    from schedules.operating.backfills import Followed
    from schedules.operating.holes import Holes


def tell_plan(found: Holes, job: Job, took: timedelta | None) -> None:
    """On standard error: how many are to run, which are not, and how long it takes."""
    how = "five at a time" if job.overlap == "allow_all" else "one after another"
    about = f"; this takes about {span_text(took)} ({how})" if took and found.run else ""
    left = [
        (len(found.succeeded), "succeeded"),
        (len(found.going), "still running or waiting"),
        (
            len(found.unknown),
            "left out, because the namespace no longer keeps whether they ran",
        ),
    ]
    told = "".join(f"; {count} {what}" for count, what in left if count)
    say(f"{job.name}: {len(found.run)} of {found.expected} occurrences will run{told}{about}")


def show_plan(options: argparse.Namespace, job: Job, found: Holes, took: timedelta | None) -> int:
    """Those that would run; the exit code."""
    if options.output == "json":
        result = "planned" if options.dry_run else "nothing to do"
        seconds = round(took.total_seconds(), 1) if took else None
        answer({"job": job.name, "result": result, "occurrences": found.times, "estimated_seconds": seconds})
    elif found.run:
        shown, more = cut(found.run)
        console().print(table(COLUMNS, [occurrence_row(each, job.times.timezone) for each in shown], job.name))
        if more:
            say(more)
    return 0


def show_end(options: argparse.Namespace, job: Job, followed: Followed) -> int:
    """How it ended, or how far it is; the exit code."""
    text = "\n".join(
        [
            f"{job.name}: {followed.status}, {progress_text(followed.progress)}",
            *map(one_line, followed.progress.failures),
        ]
    )
    if followed.status in {"failed", "terminated", "timed_out"}:
        text += f"\nthe workflow {BACKFILL_PREFIX}{job.name} has the reason"
    if followed.status == "running":
        text += f"\nit is still running; follow it with `tickwright backfill {job.name} --watch`, or end it with `tickwright backfill {job.name} --cancel`"
    said(options, {"job": job.name, "result": followed.status, **asdict(followed.progress)}, text)
    return 0 if followed.well else 1


def said(options: argparse.Namespace, document: dict[str, Any], text: str) -> int:
    """The document or the text; the exit code of what went well."""
    if options.output == "json":
        answer(document)
    else:
        STDOUT.answer(text + "\n")
    return 0
