"""One occurrence of the past, or one run with other parameters: a backfill of one."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from activities.contract import BACKFILL_PREFIX
from activities.occurrence import stamp
from schedules.errors import SettingsError
from schedules.ledger.account import account
from schedules.ledger.due import due
from schedules.ledger.translate import job_request
from schedules.operating.assign import assigned
from schedules.operating.backfill_request import request_for
from schedules.operating.backfills import Backfills
from schedules.operating.follow import follow_run, newest_run
from schedules.operating.holes import GOES_ON
from schedules.operating.missing_worker import missing_worker
from schedules.operating.triggered import Triggered
from schedules.server.gateway import TemporalGateway
from schedules.times.moment import local_text

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from activities.account.facts import Run
    from schedules.ledger.facts import Job
    from schedules.ledger.records import Records
    from schedules.model import ObservedSchedule
    from schedules.operating.triggered import TriggerRequest

LOOK_AGAIN = 0.2
PATIENCE = 8.0
"""Seconds after which it is said that the start lets wait."""


async def run_occurrence(
    records: Records,
    job: Job,
    now: datetime,
    request: TriggerRequest,
    tell: Callable[[str], None],
    stop: asyncio.Event,
) -> Triggered:
    """Has it run by the job's workers, behind what is running. Raises SettingsError, ServerError and BusyError."""
    from schedules.ledger.selection import moment_of

    at = now.replace(microsecond=0)
    if request.scheduled_at:
        moment = moment_of(job, request.scheduled_at, now)
        if len(moment.instants) > 1:
            both = " or ".join(stamp(each) for each in moment.instants)
            raise SettingsError(f"--scheduled-at {request.scheduled_at} happens twice; write {both}")
        at = _scheduled(job, moment, now)
        await _check_ran(records, job, at, now, request, tell)
    observed = await TemporalGateway(records.client).describe(job.name)
    if observed is None:
        raise SettingsError(f"the job `{job.name}` has been deleted")
    rerun = stamp(now) if request.again or request.assignments else ""
    params = _params(observed, job, request)
    before = await newest_run(records, job, at)
    await Backfills(records.client).start(observed, request_for(job, [stamp(at)], rerun=rerun, params=params))
    if missing := await missing_worker(records.client, observed.action):
        tell(f"{missing}; the run waits until one does")
    return await _followed(records, job, at, before, request, tell, stop)


def _scheduled(job: Job, moment: Any, now: datetime) -> datetime:
    found, zone = due(job.times, moment), job.times.timezone
    if not found.is_due:
        near = [local_text(each, zone) for each in (found.before, found.after) if each]
        raise SettingsError(
            f"--scheduled-at: {local_text(found.at, zone)} is not a scheduled time of `{job.name}`; nearest: {' and '.join(near) or 'none'}"
        )
    if found.at > now:
        raise SettingsError(
            f"--scheduled-at: {local_text(found.at, zone)} has not come yet; the schedule starts it then"
        )
    return found.at


async def _check_ran(
    records: Records, job: Job, at: datetime, now: datetime, request: TriggerRequest, tell: Callable[[str], None]
) -> None:
    """Raises SettingsError for an occurrence that runs, or that has succeeded and is not meant to run again."""
    occurrences = (await account(records, job, at, at, now)).occurrences
    if not occurrences:
        return
    known = occurrences[0]
    if known.verdict in GOES_ON:
        raise SettingsError(
            f"{job.occurrence_id(at)} is already {known.verdict}: {known.reason or 'see `tickwright explain`'}"
        )
    has_succeeded = known.verdict == "succeeded" or any(run.verdict == "succeeded" for run in known.others)
    if has_succeeded and not request.again:
        raise SettingsError(
            f"{job.occurrence_id(at)} has already succeeded; add --again to run it again, with a new idempotency key"
        )
    if known.run is not None:
        tell(f"{job.occurrence_id(at)} ran before: {known.verdict}")


def _params(observed: ObservedSchedule, job: Job, request: TriggerRequest) -> dict[str, dict[str, Any]]:
    if not (request.assignments or request.again):
        return {}
    given = job_request(observed)
    if given is None:
        raise SettingsError(
            f"--set and --again do not work for `{job.name}`: it starts its own workflow (direct), or is encrypted with a key that is missing here"
        )
    return assigned(given, request.assignments)


async def _followed(
    records: Records,
    job: Job,
    at: datetime,
    before: Run | None,
    request: TriggerRequest,
    tell: Callable[[str], None],
    stop: asyncio.Event,
) -> Triggered:
    """Waits for the start, and with --wait for the end."""
    workflow_id, backfills = job.occurrence_id(at), Backfills(records.client)
    loop = asyncio.get_running_loop()
    told, patience = False, loop.time() + PATIENCE
    while not stop.is_set():
        run = await newest_run(records, job, at)
        if run is not None and (before is None or run.run_id != before.run_id):
            if not request.wait:
                return Triggered(job.name, workflow_id, stamp(at), "started")
            outcome, reason = await follow_run(records, run, tell, stop)
            return Triggered(job.name, workflow_id, stamp(at), outcome, reason)
        if not await backfills.goes_on(job.name):
            reason = f"it was given up; the workflow {BACKFILL_PREFIX}{job.name} has the reason"
            return Triggered(job.name, workflow_id, stamp(at), "dropped", reason)
        if loop.time() > patience:
            waits = f"it waits for another run to end, or for a worker; `tickwright backfill {job.name} --cancel` cancels it"
            if not request.wait:
                return Triggered(job.name, workflow_id, stamp(at), "waiting", waits)
            if not told:
                tell(f"{workflow_id}: {waits}")
                told = True
        await asyncio.sleep(LOOK_AGAIN)
    return Triggered(job.name, workflow_id, stamp(at), "waiting", "it continues without this command")
