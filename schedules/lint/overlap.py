"""Findings about overlap policies: what an outage leaves behind, and what a terminated run cannot take back."""

from __future__ import annotations

from bisect import bisect_right
from datetime import timedelta
from itertools import islice
from typing import TYPE_CHECKING

from activities.overlap import overlap_policy
from schedules.compile.catch_up import compile_catch_up
from schedules.cron import Occurrences
from schedules.lint.finding import Finding
from schedules.text.duration import format_duration
from schedules.times.horizon import horizon

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from schedules.spec.job import JobSpec
    from schedules.times.job import JobTimes

MANY = 100
LOOKED_AT = 3_000


def catch_up_findings(job: JobSpec, found: JobTimes, now: datetime) -> Iterator[Finding]:
    """Where runs go on side by side, every missed occurrence in the catch-up window starts at once, if only to end at once."""
    if not overlap_policy(job.overlap).side_by_side or job.direct:
        return
    begin, end = horizon(now)
    rule = compile_catch_up(job, found.times, begin)
    moments = [at.timestamp() for at in islice(Occurrences(found.times).between(begin, end), LOOKED_AT)]
    most = max((bisect_right(moments, at + rule.window) - index for index, at in enumerate(moments)), default=0)
    if most - rule.max_missed > MANY:
        window = format_duration(timedelta(seconds=rule.window))
        message = (
            f"a long outage can end with {most} late starts at once, of which {rule.max_missed} do the work; the times are irregular, "
            f"and the longest distance between them makes the server start what is up to {window} old; choose an overlap "
            "other than allow_all"
        )
        yield Finding("catch-up-crowd", message, ("overlap",), job.name)


def steps_findings(job: JobSpec) -> Iterator[Finding]:
    """A run that the next one terminates ends at once, and takes nothing back."""
    undone = [step.name for step in job.steps if step.compensate]
    if undone and job.overlap == "terminate_other":
        message = (
            f"with overlap terminate_other, a run ends at once, and {', '.join(undone)} cannot be compensated; "
            "choose cancel_other"
        )
        yield Finding("not-compensated", message, ("overlap",), job.name)
