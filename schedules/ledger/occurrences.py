"""The ledger of a job: every occurrence of a span of time, with its run or with the reason that there is none. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from itertools import islice
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

from activities.account.due_times import between as due_between
from activities.account.verdict import Case, Reason, why_not
from activities.contract import BACKFILL_PREFIX
from activities.occurrence import stamp
from schedules.cron import between
from schedules.ledger.replaced import replaced

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping
    from datetime import datetime

    from activities.account.facts import Run, Verdict
    from activities.account.record import SchedulerRecord
    from schedules.ledger.facts import Job

Origin = Literal["schedule", "late_run", "trigger", "backfill", "by_hand", "new_build", "earlier_spec", "none"]
SECOND = timedelta(seconds=1)
MOST_EARLIER = 1_000
"""Times of one spec that has been changed since."""
NOT_ASKED: Mapping[datetime, datetime] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Occurrence:
    """One (job, scheduled time). `expected`: the schedule of today has it; `others` are earlier runs under the same id.

    Without a run `reason` says why there is none, else what ended it, if it did not succeed; empty where nothing tells.
    """

    scheduled_at: datetime
    verdict: Verdict
    expected: bool
    origin: Origin
    run: Run | None = None
    reason: str = ""
    evidence: tuple[str, ...] = ()
    certain: bool = True
    others: tuple[Run, ...] = ()


def ledger(
    job: Job,
    runs: Iterable[Run],
    since: datetime,
    until: datetime,
    now: datetime,
    record: SchedulerRecord | None = None,
    jittered: Mapping[datetime, datetime] = NOT_ASKED,
    quiet: Collection[datetime] = (),
) -> list[Occurrence]:
    """The occurrences from since to until, both included, oldest first; `runs` in any order.

    Runs of other times help to explain: give those that were at work in the span, too.
    """
    known = sorted(replaced(job, list(runs)), key=lambda run: (run.scheduled_at, run.started_at))
    by_time: dict[datetime, list[Run]] = {}
    for run in known:
        by_time.setdefault(run.scheduled_at, []).append(run)
    expected = frozenset(between(job.times, since, until + SECOND))
    earlier = _by_earlier_specs(job, record, since, until) - expected
    found = {at for at in by_time if since <= at <= until}
    by_start = sorted(known, key=lambda run: run.started_at)
    return [
        _with_run(by_time[at], record, expected=at in expected)
        if at in found
        else _without_run(Case(at, job, by_start, now, record, jittered, quiet), expected=at in expected)
        for at in sorted(expected | earlier | found)
    ]


def _by_earlier_specs(
    job: Job, record: SchedulerRecord | None, since: datetime, until: datetime
) -> frozenset[datetime]:
    """The times from since to until at which the schedule was due by what it was before its last changes, as far as they are known."""
    found: set[datetime] = set()
    for begin, end, spec in record.earlier_specs(since, until) if record else ():
        times = islice(due_between(job.occurrences_by(spec), max(begin, since), end), MOST_EARLIER)
        found.update(at for at in times if at <= until)
    return frozenset(found)


def _with_run(runs: list[Run], record: SchedulerRecord | None, *, expected: bool) -> Occurrence:
    run = runs[-1]
    origin = origin_of(run, record, expected=expected, repeated=len(runs) > 1)
    reason = run.reason
    if run.verdict == "waiting":
        reason = f"no worker has taken it: it waits in task queue `{run.task_queue}`"
    return Occurrence(run.scheduled_at, run.verdict, expected, origin, run, reason, others=(*runs[:-1],))


def _without_run(case: Case, *, expected: bool) -> Occurrence:
    reason: Reason = why_not(case)
    return Occurrence(case.at, reason.verdict, expected, "none", None, reason.text, reason.evidence, reason.certain)


def origin_of(run: Run, record: SchedulerRecord | None, *, expected: bool, repeated: bool = False) -> Origin:
    """The origin of a run: its schedule, a person, a late run or a new build."""
    if run.build:
        return "new_build"
    if run.asked_by_hand:
        return "backfill" if expected else "trigger"
    if run.parent:
        return "late_run"
    if not run.scheduled_by:
        return "by_hand"
    asked = record.asked_for(run.scheduled_at) if record else None
    if expected and not repeated and (asked is None or run.started_at < asked.at):
        return "schedule"
    if asked is not None:
        by_backfill = asked.kind == "backfilled" or asked.by.startswith(BACKFILL_PREFIX)
        return "backfill" if by_backfill else "trigger"
    return "backfill" if expected else "earlier_spec"


def text_of(occurrence: Occurrence) -> str:
    """One line: the time and what became of it."""
    reason = f": {occurrence.reason}" if occurrence.reason else ""
    return f"{stamp(occurrence.scheduled_at)} {occurrence.verdict}{reason}"
