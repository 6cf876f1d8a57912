"""Claims one occurrence for a command outside of Temporal: whoever starts its id first, the schedule or the claim, does the work."""

from __future__ import annotations

import asyncio
import getpass
import os
import socket
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, Any

from temporalio.client import WorkflowHandle
from temporalio.common import (
    SearchAttributeKey,
    SearchAttributePair,
    TypedSearchAttributes,
    WorkflowIDConflictPolicy,
    WorkflowIDReusePolicy,
)
from temporalio.exceptions import WorkflowAlreadyStartedError
from temporalio.service import RPCError, RPCStatusCode

from activities.contract import (
    CLAIM_ALIVE,
    CLAIM_ENDED,
    JOB_WORKFLOW,
    OWNER_ATTRIBUTE,
    Claim,
    ClaimEnding,
    JobRequest,
    RetryRequest,
    StepRequest,
)
from activities.late.decision import instant
from schedules.cron.occurrences import occurrences_of
from schedules.errors import ServerError, SettingsError, UnreachableError
from schedules.ledger.translate import SCHEDULED_BY, job_request
from schedules.server.gateway import TemporalGateway
from schedules.text.duration import format_duration
from schedules.times.moment import parse_moment

if TYPE_CHECKING:
    from datetime import datetime

    from temporalio.client import Client

    from schedules.model import ObservedSchedule, Times

EARLY = timedelta(seconds=5)
"""By so much the clock of the old side may be ahead."""
BEAT = 60.0
SILENCE = 180.0
RPC_TIMEOUT = timedelta(seconds=10)
ASK_FOR, RECORD_FOR = 60.0, 120.0
"""Seconds for which it is asked whose run one is, and for which the end of a command is tried to be recorded."""
LONGEST = timedelta(days=7)
STARTED_AT = SearchAttributeKey.for_datetime("TemporalScheduledStartTime")


async def claimed(client: Client, job: str, at: str | None, now: datetime) -> WorkflowHandle[Any, Any] | str:
    """The run of the occurrence if it is ours now, else the id of the run that somebody else has.

    `at` is a scheduled time as a person writes it, None the newest one. Raises SettingsError for a job or a time that there is
    not, and UnreachableError where the server does not answer.
    """
    try:
        observed = await TemporalGateway(client).describe(job)
    except ServerError as error:
        raise UnreachableError(client.service_client.config.target_host, error.detail) from error
    request = job_request(observed) if observed else None
    if observed is None or request is None:
        raise SettingsError(f"no sync has created the job `{job}` yet; run `tickwright sync` first")
    moment = _scheduled(observed.times, job, at, now)
    workflow_id = f"{observed.action.workflow_id or observed.id}-{moment:%Y-%m-%dT%H:%M:%SZ}"
    start = partial(_start, client, observed, _request(request), moment)
    try:
        run = await start(workflow_id)
        if run is None and await _is_shadow(
            client, workflow_id, moment
        ):  # it did nothing: the work is still to be done, by one claim
            run = await start(f"{workflow_id}/claim")
    except RPCError as error:
        raise UnreachableError(client.service_client.config.target_host, error.message) from error
    return run or workflow_id


async def _start(
    client: Client, observed: ObservedSchedule, request: JobRequest, moment: datetime, workflow_id: str
) -> WorkflowHandle[Any, Any] | None:
    """The run under this id, None where there is one already. Raises RPCError."""
    try:
        return await client.start_workflow(
            JOB_WORKFLOW,
            request,
            id=workflow_id,
            task_queue=observed.action.task_queue,
            id_reuse_policy=WorkflowIDReusePolicy.REJECT_DUPLICATE,
            id_conflict_policy=WorkflowIDConflictPolicy.FAIL,
            execution_timeout=LONGEST,
            search_attributes=_attributes(observed, moment),
            static_summary=f"claimed by {_who()}",
            rpc_timeout=RPC_TIMEOUT,
        )
    except WorkflowAlreadyStartedError:
        return None


async def _is_shadow(client: Client, workflow_id: str, moment: datetime) -> bool:
    """Whether the run under this id is one in shadow mode, or before the job's `start_at`, as what it was given tells. Raises RPCError.

    Asked for a minute, since without an answer nobody would do the work of a shadow.
    """
    handle, until = client.get_workflow_handle(workflow_id), monotonic() + ASK_FOR
    while True:
        try:
            first = await anext(handle.fetch_history_events(page_size=1, rpc_timeout=RPC_TIMEOUT))
            break
        except RPCError:
            if monotonic() > until:
                raise
    given = first.workflow_execution_started_event_attributes.input.payloads
    [request] = await client.data_converter.decode(given, [JobRequest]) if len(given) == 1 else [None]
    if not isinstance(request, JobRequest):
        return False
    return request.shadow or bool(request.start_at and moment < instant(request.start_at))


def _scheduled(times: Times, job: str, at: str | None, now: datetime) -> datetime:
    """The occurrence that is meant. Raises SettingsError."""
    occurrences = occurrences_of(replace(times, start_at=None))  # those before a handover are claimed as well
    if at is None:
        newest = occurrences.previous_before(now + EARLY)
        before = occurrences.previous_before(now + timedelta(microseconds=1))
        if newest and before and newest - now > (newest - before) / 2:
            newest = before  # the next one is nearer to its own time than this moment is
        if newest is None:
            raise SettingsError(f"`{job}` has had no scheduled time yet")
        return newest
    for meant in parse_moment(at, times.timezone, now).instants:
        if occurrences.next_after(meant - timedelta(seconds=1)) == meant:
            return _due(meant, job, at, now)
    raise SettingsError(f"--at {at}: `{job}` has no such scheduled time; `tickwright next {job}` shows its times")


def _due(meant: datetime, job: str, at: str, now: datetime) -> datetime:
    """The time itself. Raises SettingsError for one to come, whose work would be done now."""
    if meant > now + EARLY:
        wait = format_duration(timedelta(seconds=round((meant - now).total_seconds())))
        raise SettingsError(f"--at {at}: `{job}` is due in {wait}, and a claim runs its command at once; claim it then")
    return meant


def _request(request: JobRequest) -> JobRequest:
    """One step, whose command is not told: it may hold a password."""
    step = StepRequest("run", "command", {"argv": ["claimed"]}, SILENCE, SILENCE, RetryRequest())
    return replace(
        request, steps=[step], deadline=None, catchup=None, shadow=False, claim=Claim(_who(), SILENCE), start_at=""
    )


def _attributes(observed: ObservedSchedule, moment: datetime) -> TypedSearchAttributes:
    pairs: list[SearchAttributePair[Any]] = [
        SearchAttributePair(SearchAttributeKey.for_keyword(SCHEDULED_BY), observed.id),
        SearchAttributePair(STARTED_AT, moment),
    ]
    if owner := observed.owner:
        pairs.append(SearchAttributePair(SearchAttributeKey.for_keyword(OWNER_ATTRIBUTE), owner))
    return TypedSearchAttributes(pairs)


def _who() -> str:
    return f"{getpass.getuser()}@{socket.gethostname()}, process {os.getpid()}"


async def keep_alive(run: WorkflowHandle[Any, Any]) -> None:
    """Tells the run that its command is at work; returns when the run has ended without it, cancelled for example."""
    while True:
        await asyncio.sleep(BEAT)
        try:
            await run.signal(CLAIM_ALIVE, rpc_timeout=RPC_TIMEOUT)
        except RPCError as error:
            if error.status == RPCStatusCode.NOT_FOUND:
                return


async def record(run: WorkflowHandle[Any, Any], ending: ClaimEnding) -> bool:
    """Tells the run how its command ended, for two minutes at the most; whether that was taken."""
    with suppress(TimeoutError):
        async with asyncio.timeout(RECORD_FOR):
            while True:
                try:
                    await run.signal(CLAIM_ENDED, ending, rpc_timeout=RPC_TIMEOUT)
                except RPCError as error:
                    if error.status == RPCStatusCode.NOT_FOUND:
                        return False
                    await asyncio.sleep(1)
                else:
                    return True
    return False
