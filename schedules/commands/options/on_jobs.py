"""Commands that do the same to each of several jobs: planned for all of them, then done one by one, then shown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from schedules.commands.options.operating import AT_ONCE
from schedules.commands.options.reading import answer, read

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Mapping
    from datetime import datetime

    from schedules.ledger.facts import Job
    from schedules.ledger.records import Records
    from schedules.operating.each import Apply, Operator


def on_each_job(
    options: argparse.Namespace,
    plan: Callable[[Operator, Job], Apply],
    more: Callable[[str], Mapping[str, Any]] = lambda _job: {},
) -> int:
    """The exit code. `plan` raises SettingsError before anything is done; `more` is what the document says of a job besides."""

    async def work(records: Records, now: datetime) -> int:
        from schedules.console.signals import stop_on_signals
        from schedules.notes import checked_reason
        from schedules.operating.chosen import chosen_jobs
        from schedules.operating.each import Operator, each_job, show
        from schedules.operating.writes import Writes
        from schedules.sync.audit import audit_of

        operator = Operator(records, Writes(records.client), audit_of(()).who, checked_reason(options.reason), now)
        chosen = await chosen_jobs(records, options.jobs)
        planned = {job.name: plan(operator, job) for job in chosen.jobs}
        stop_on_signals(AT_ONCE)
        done = await each_job(chosen, lambda job: planned[job.name]())
        if options.output == "json":
            answer({"jobs": [{**each.json, **more(each.job)} for each in done]})
        else:
            show(done)
        return int(any(each.failed for each in done))

    return read(work)
