"""Runs of jobs without a schedule: requests that are valid by default, started under an occurrence's id."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
from temporalio.api.sdk.v1 import WorkflowMetadata
from temporalio.client import Client, WorkflowFailureError, WorkflowHandle
from temporalio.exceptions import ApplicationError

from activities.contract import (
    JOB_WORKFLOW,
    JobRequest,
    JobResult,
    RetryRequest,
    StepRequest,
    TimesRequest,
)

SCHEDULED_AT = "2027-03-01T13:00:00Z"
"""08:00 in New York on a Monday."""


def request(
    handler: str = "command",
    params: dict[str, Any] | None = None,
    *,
    job: str = "invoice-dunning",
    timeout: float = 30.0,
    heartbeat_timeout: float = 30.0,
    retry: RetryRequest | None = None,
    deadline: float | None = None,
) -> JobRequest:
    """A job of one step, which is tried once."""
    step = StepRequest(
        "run", handler, params or {"argv": ["true"]}, timeout, heartbeat_timeout, retry or RetryRequest(max_attempts=1)
    )
    times = TimesRequest("America/New_York", calendars=["0 0 8 * * 1-5 *"])
    return JobRequest("billing", "production", job, times, [step], deadline)


def shell(text: str, **more: Any) -> dict[str, Any]:
    """Parameters of a `command` step that is a line of shell."""
    return {"argv": [text], "shell": True, **more}


async def start(
    client: Client, what: JobRequest, task_queue: str, scheduled_at: str = SCHEDULED_AT
) -> WorkflowHandle[Any, JobResult]:
    """Starts the occurrence; its job's name and time are its id."""
    return await client.start_workflow(
        JOB_WORKFLOW, what, id=f"{what.job}-{scheduled_at}", task_queue=task_queue, result_type=JobResult
    )


@dataclass(frozen=True)
class Ended:
    """How a run that did not succeed shows itself to a client."""

    type: str | None
    message: str
    result: dict[str, Any]


async def failure(handle: WorkflowHandle[Any, JobResult]) -> Ended:
    """The failure of a run that fails; fails itself where the run ends in another way."""
    with pytest.raises(WorkflowFailureError) as ended:
        await handle.result()
    cause = ended.value.cause
    assert isinstance(cause, ApplicationError), cause
    return Ended(cause.type, cause.message, cause.details[0])


async def current_details(handle: WorkflowHandle[Any, Any]) -> str:
    """What the Web UI shows as the run's current details; some worker must know the workflow."""
    answer = await handle.query("__temporal_workflow_metadata", result_type=WorkflowMetadata)
    return str(answer.current_details)
