"""The wire format: what a schedule hands to a run and what a run answers. Stored in Temporal's history, so fields are only ever added.

Plain frozen dataclasses of JSON values; durations are seconds, times RFC 3339 in UTC.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

JOB_WORKFLOW = "JobWorkflow"
RUN_STEP = "run_step"
RENDER_ARGUMENTS = "render_arguments"
OFFER_WORKFLOW = "TickwrightOffer"
DESCRIBE_OFFER = "describe_offer"
DEFAULT_TASK_QUEUE = "tickwright"
OWNER_ATTRIBUTE = "TickwrightOwner"
HASH_ATTRIBUTE = "TickwrightHash"  # on schedules alone: the fingerprint of what a sync last wrote

# Types of the ApplicationErrors that RUN_STEP and RENDER_ARGUMENTS fail with.
HANDLER_FAILED = "handler_failed"
HANDLER_TIMEOUT = "handler_timeout"
WORKER_SHUTDOWN = "worker_shutdown"  # the worker drained under the step: no verdict on the job, run it elsewhere

STOP_GRACE = 5.0  # seconds that a stopped handler has to end by itself before it is killed or given up
BACKSTOP = (
    15.0  # seconds by which start_to_close exceeds the timeout that the activity enforces itself; more than STOP_GRACE
)

HandlerKind = Literal["http", "command", "python", "workflow"]
Backoff = Literal["exponential", "linear", "fixed"]
Outcome = Literal["succeeded", "failed", "timed_out", "cancelled"]


@dataclass(frozen=True)
class RetryRequest:
    """How often and how fast an attempt that failed is tried again; `initial` and `max` are seconds."""

    max_attempts: int = 1
    backoff: Backoff = "exponential"
    initial: float = 10.0
    max: float = 300.0


@dataclass(frozen=True)
class StepRequest:
    """One step of a run: the handler, its parameters with templates and secret references still in them, its limits in seconds."""

    name: str
    handler: HandlerKind
    params: dict[str, Any]
    timeout: float
    heartbeat_timeout: float
    retry: RetryRequest = field(default_factory=RetryRequest)


@dataclass(frozen=True)
class TimesRequest:
    """When the job fires, for `interval_start`: calendars as `second minute hour day month weekday year` (all must match).

    `intervals` are [every, offset] in seconds of Unix time.
    """

    timezone: str
    calendars: list[str] = field(default_factory=list)
    intervals: list[list[int]] = field(default_factory=list)
    exclusions: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class JobRequest:
    """The one argument of JobWorkflow. The scheduled time is not in it: it is the occurrence's own, from its schedule."""

    project: str
    environment: str
    job: str
    times: TimesRequest
    steps: list[StepRequest]
    deadline: float | None = None


@dataclass(frozen=True)
class StepCall:
    """The one argument of the activity that runs a step: the request and the occurrence that it belongs to."""

    project: str
    environment: str
    job: str
    scheduled_at: str
    times: TimesRequest
    step: StepRequest
    run_id: str
    earlier_attempts: int = 0  # of this step, in activities that a worker's drain has ended
    last_heartbeat: list[Any] = field(default_factory=list)  # their last details: one value, or none


@dataclass(frozen=True)
class StepResult:
    """What a step gave back: `output` is JSON and bounded in size; `attempts` counts from 1; `duration` is seconds of the last attempt.

    A `workflow` step that may be tried again does not know its attempts: None.
    """

    name: str
    output: Any
    attempts: int | None
    duration: float


@dataclass(frozen=True)
class JobResult:
    """How an occurrence ended; `lateness` is actual start minus scheduled time, `duration` the whole run, both in seconds.

    `attempts` are those of all its steps, None where nothing tells how many one of them had.
    """

    outcome: Outcome
    scheduled_at: str
    lateness: float
    duration: float
    attempts: int | None
    steps: list[StepResult] = field(default_factory=list)
    reason: str = ""


@dataclass(frozen=True)
class WorkerOffer:
    """What a worker can run: names of `python` handlers, and workflow types."""

    handlers: list[str]
    workflows: list[str]
