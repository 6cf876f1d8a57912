"""The wire format: what a schedule hands to a run and what a run answers. Stored in Temporal's history, so fields are only ever added.

Plain frozen dataclasses of JSON values; durations are seconds, times RFC 3339 in UTC.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, NewType

from activities.notices.contract import AlertRequest

JOB_WORKFLOW = "JobWorkflow"
RUN_STEP = "run_step"
RENDER_ARGUMENTS = "render_arguments"
DECIDE_LATE_START = "decide_late_start"
IS_SCHEDULED_TIME = "is_scheduled_time"
OFFER_WORKFLOW = "TickwrightOffer"
DESCRIBE_OFFER = "describe_offer"
OFFERED_ELSEWHERE = "offered_elsewhere"
BUILDS_WORKFLOW = "TickwrightBuilds"
START_REBOOT_RUNS = "start_reboot_runs"
BACKFILL_WORKFLOW = "TickwrightBackfill"
LOOK_AT_OCCURRENCE = "look_at_occurrence"
ASK_FOR_OCCURRENCE = "ask_for_occurrence"
RESUME_WORKFLOW = "TickwrightResume"
RESUME_SCHEDULE = "resume_schedule"
BACKFILL_PREFIX = "tickwright-backfill-"  # with the job's name, the id of its backfill: there is one at a time
RESUME_PREFIX = "tickwright-resume-"
TURN_PREFIX = "tickwright-turn-"  # with the job's name, held while a `trigger` of it is asked for
ASKED_MEMO = (
    "tickwright-asked"  # of a backfill: the times it has asked for; of a run started by hand: the backfill's id
)
CLAIM_ALIVE, CLAIM_ENDED = "claim_alive", "claim_ended"  # signals of a claim to its run
BUILD_MEMO = "tickwright-build"  # of a run that a new build of the workers started: its id, never encrypted
REPEAT_MEMO = "tickwright-repeat"  # of a backfill that repeats on purpose: the Repeat of its runs
PROGRESS_MEMO = "tickwright-progress"  # of a backfill: its BackfillProgress
KINDS_GROUP = "tickwright.handlers"  # of entry points, by which packages bring kinds of steps under their names
DEFAULT_TASK_QUEUE = "tickwright"
OWNER_ATTRIBUTE = "TickwrightOwner"
OUTCOME_ATTRIBUTE = (
    "TickwrightOutcome"  # on runs that end as `superseded`, `too_late`, `skipped`, `shadow` and the like
)
HASH_ATTRIBUTE = "TickwrightHash"  # on schedules alone: the fingerprint of what a sync last wrote

# Types of the ApplicationErrors that RUN_STEP and RENDER_ARGUMENTS fail with.
HANDLER_FAILED = "handler_failed"
HANDLER_TIMEOUT = "handler_timeout"
WORKER_SHUTDOWN = "worker_shutdown"  # the worker drained under the step: no verdict on the job, run it elsewhere
NOT_OFFERED = "not_offered"  # the worker cannot run the step, and another of its task queue can
GIVE_BACK_SECONDS = 600.0  # how long a step without `start_timeout` is given back for another worker

STOP_GRACE = 5.0  # seconds that a stopped handler has to end by itself before it is killed or given up
BACKSTOP = (
    15.0  # seconds by which start_to_close exceeds the timeout that the activity enforces itself; more than STOP_GRACE
)

Backoff = Literal["exponential", "linear", "fixed"]
When = Literal["on_success", "on_failure", "always"]
StepOutcome = Literal["succeeded", "failed", "timed_out", "cancelled", "skipped"]
CatchUpPolicy = Literal["skip", "run_latest", "run_all"]
Outcome = Literal[
    "succeeded",
    "failed",
    "timed_out",
    "cancelled",
    "superseded",
    "too_late",
    "skipped",
    "compensation_failed",
    "shadow",
]

ChildOutput = NewType("ChildOutput", Any)  # type: ignore[valid-newtype]  # the SDK reads it as Any
"""What a workflow of the user's returned: JSON of any kind, only shown."""


@dataclass(frozen=True)
class RetryRequest:
    """How often and how fast an attempt that failed is tried again; `initial` and `max` are seconds."""

    max_attempts: int = 1
    backoff: Backoff = "exponential"
    initial: float = 10.0
    max: float = 300.0
    permanent: list[str] = field(default_factory=list)  # types of errors that no further attempt can mend


@dataclass(frozen=True)
class StepRequest:
    """One step of a run: the handler, its parameters with templates and secret references still in them, its limits in seconds.

    `needs` are the steps that must have ended before; None stands for the one before it in the list.
    """

    name: str
    handler: str  # the name of its kind, as `http`
    params: dict[str, Any]
    timeout: float
    heartbeat_timeout: float
    retry: RetryRequest = field(default_factory=RetryRequest)
    needs: list[str] | None = None
    when: When = "on_success"
    compensate: StepRequest | None = None  # what takes its effect back
    task_queue: str = ""  # another than the job's
    start_timeout: float | None = None  # how long an attempt may wait for a worker, and a pod for its start


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
class CatchUpRequest:
    """What is done about an occurrence that starts late.

    A run that starts at most `late_after` seconds after its scheduled time is on time, and nothing of this concerns it.
    `window` is the schedule's catch-up window, `jitter` its jitter, all in seconds. After `end_at` nothing is due any more.
    """

    policy: CatchUpPolicy
    overlap: str
    late_after: float
    window: float
    jitter: float = 0.0
    max_missed: int = 1
    start_deadline: float | None = None
    end_at: str = ""


@dataclass(frozen=True)
class Altered:
    """A place in an output, as its keys and numbers of list items, whose value is not what the step gave back, and why.

    People may read what stands there; no later step is given it.
    """

    path: list[str]
    why: str


@dataclass(frozen=True)
class LastSuccess:
    """The newest occurrence that had succeeded when this one started, and the outputs of its steps by name."""

    scheduled_at: str
    outputs: dict[str, Any] = field(default_factory=dict)
    altered: dict[str, list[Altered]] = field(default_factory=dict)


@dataclass(frozen=True)
class NotRun:
    """Occurrences that a run decided not to run: how many, the first and the last of them, and why."""

    count: int
    first: str
    last: str
    reason: str


@dataclass(frozen=True)
class Handover:
    """What a late run gives to the run of a newer occurrence that it starts in its own stead, as its child."""

    by: str  # the late run's workflow id
    last_success: LastSuccess | None = None


@dataclass(frozen=True)
class Claim:
    """Who does the work of an occurrence outside of Temporal, and for how many seconds nothing may be heard of them."""

    by: str
    silence: float


@dataclass(frozen=True)
class ClaimEnding:
    """How the command of a claim ended; a negative exit code is the signal that ended it."""

    exit_code: int
    stdout: str = ""
    stderr: str = ""
    duration: float = 0.0


@dataclass(frozen=True)
class JobRequest:
    """The one argument of JobWorkflow. The scheduled time is not in it: it is the occurrence's own, from its schedule.

    `outcome_attribute` tells that the namespace knows the search attribute for outcomes. With `shadow` the run ends at once, and
    none of its steps is begun. With `claim` the run waits for what its claim says of the one step, and begins none itself.
    Scheduled times before `start_at` are another scheduler's.
    """

    project: str
    environment: str
    job: str
    times: TimesRequest
    steps: list[StepRequest]
    deadline: float | None = None
    catchup: CatchUpRequest | None = None
    outcome_attribute: bool = False
    handover: Handover | None = None
    alerts: AlertRequest | None = None
    rerun: str = ""  # which deliberate repetition this is; it is part of the idempotency keys
    shadow: bool = False
    claim: Claim | None = None
    start_at: str = ""


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
    earlier_attempts: int = 0  # of this step, in activities that have gone on in another worker
    last_heartbeat: list[Any] = field(default_factory=list)  # their last details: one value, or none
    outputs: dict[str, Any] = field(default_factory=dict)  # of the earlier steps that this one's templates name
    last_success: LastSuccess | None = None
    rerun: str = ""
    altered: dict[str, list[Altered]] = field(default_factory=dict)  # what is not as it was in `outputs`
    last_success_unreadable: str = ""  # why nothing is known of the run before
    given_back: int = 0  # how many times a worker has given it back for another


@dataclass(frozen=True)
class StepResult:
    """What a step gave back: `output` is JSON and bounded in size; `attempts` counts from 1; `duration` is seconds of the last attempt.

    A `workflow` step that may be tried again does not know its attempts: None. What did not succeed has no output, a
    `reason`, and as `duration` the time from its start to its end; one that was skipped had no attempt.
    """

    name: str
    output: Any
    attempts: int | None
    duration: float
    outcome: StepOutcome = "succeeded"
    reason: str = ""
    altered: list[Altered] = field(default_factory=list)
    log: str = ""  # the lines that its last attempt has logged, bounded in size


@dataclass(frozen=True)
class JobResult:
    """How an occurrence ended; `lateness` is actual start minus scheduled time, `duration` the whole run, both in seconds.

    `attempts` are those of all its steps, None where nothing tells how many one of them had. `steps` are in the spec's
    order, `compensations` in the order in which they ran.
    """

    outcome: Outcome
    scheduled_at: str
    lateness: float
    duration: float
    attempts: int | None
    steps: list[StepResult] = field(default_factory=list)
    reason: str = ""
    last_success: LastSuccess | None = None  # for the next run: this one's if it succeeded, else what it was given
    caught_up_to: str = ""  # up to this time a late run has decided about all occurrences
    not_run: NotRun | None = None
    compensations: list[StepResult] = field(default_factory=list)
    failing: bool = False  # of one that did not run: whether the job had failed since it last succeeded


@dataclass(frozen=True)
class Trial:
    """Parameters of a kind of handler, secrets as references, with which a worker is to try what is outside of it."""

    handler: str
    params: dict[str, Any]


@dataclass(frozen=True)
class OfferQuestion:
    """The argument of OFFER_WORKFLOW and DESCRIBE_OFFER: what a worker is asked beside its names."""

    step: StepRequest | None = None  # as it stands in the request: its templates and secrets are not filled in
    secrets: list[str] = field(default_factory=list)  # names
    trials: list[Trial] = field(default_factory=list)
    kinds: list[str] = field(default_factory=list)  # of steps, by the names of their handlers


@dataclass(frozen=True)
class WorkerOffer:
    """What a worker can run: names of `python` handlers, and workflow types; `keys` are the ids of those it can decrypt with."""

    handlers: list[str]
    workflows: list[str]
    keys: list[str] = field(default_factory=list)
    worker: str = ""  # its identity at the server
    commands: bool = True  # whether it runs them
    missing_secrets: list[str] = field(default_factory=list)  # of those in the question
    problem: str = ""  # why it cannot run the step in the question
    troubles: list[str] = field(default_factory=list)  # of each trial in the question, empty for none
    kinds: list[str] = field(default_factory=list)  # those in the question of which it has the handler
    containers: bool = False  # whether it runs them
    namespaces: list[str] = field(default_factory=list)  # of clusters, where it runs Jobs


@dataclass(frozen=True)
class NewBuild:
    """A build of the workers of a task queue that has come up for the first time, and when (RFC 3339, UTC, seconds)."""

    build_id: str
    task_queue: str
    came_up_at: str


@dataclass(frozen=True)
class LateStart:
    """The one argument of DECIDE_LATE_START: a run that started late. Times as everywhere; those of its start with fractions.

    `schedule` is the schedule that started it; up to `caught_up_to` an earlier late run has decided. `in_turn`: another late run
    has started it in its own stead.
    """

    job: str
    schedule: str
    workflow_id: str
    run_id: str
    scheduled_at: str
    started_at: str
    first_task_at: str
    times: TimesRequest
    catchup: CatchUpRequest
    caught_up_to: str = ""
    in_turn: bool = False


@dataclass(frozen=True)
class TimeQuestion:
    """The one argument of IS_SCHEDULED_TIME: whether the times hold an instant."""

    times: TimesRequest
    at: str


@dataclass(frozen=True)
class Repeat:
    """A repetition on purpose, as `rerun` of a request, and parameters by step."""

    rerun: str
    params: dict[str, dict[str, Any]] = field(default_factory=dict)


@dataclass(frozen=True)
class LateVerdict:
    """What becomes of a run that started late: it runs, or it ends as `outcome` and the occurrences of `instead` run, one by one.

    With `repeat` it was asked for as that, and the schedule has started it as any other.
    """

    run: bool
    outcome: Outcome = "superseded"
    reason: str = ""
    instead: list[str] = field(default_factory=list)
    not_run: NotRun | None = None
    caught_up_to: str = ""
    repeat: Repeat | None = None


@dataclass(frozen=True)
class BackfillProgress:
    """How far a backfill has come; `left_out` were started or had succeeded meanwhile. `failures` are the first of them, one line each."""

    total: int = 0
    succeeded: int = 0
    failed: int = 0
    left_out: int = 0
    failures: list[str] = field(default_factory=list)

    @property
    def done(self) -> int:
        """Occurrences that need nothing more."""
        return self.succeeded + self.failed + self.left_out


@dataclass(frozen=True)
class BackfillRequest:
    """The one argument of BACKFILL_WORKFLOW: the occurrences to run, oldest first, `interval` seconds between two starts at the least.

    `prefix` with the time is an occurrence's workflow id. With `rerun` they run whatever has become of them, started by hand with
    that in their request, and with these `params` by step; else the schedule starts those that have not succeeded. A run that starts
    more than `late_after` seconds after its time, if that is given, asks whether it is such a repetition.
    """

    schedule: str
    prefix: str
    times: list[str]
    side_by_side: bool = False
    interval: float = 0.0
    rerun: str = ""
    params: dict[str, dict[str, Any]] = field(default_factory=dict)
    so_far: BackfillProgress = field(default_factory=BackfillProgress)
    last_start: str = ""
    late_after: float | None = None


UNCERTAIN = "request_uncertain"
"""Type of the ApplicationError for an occurrence that was asked for and did not start, and may start yet."""
NO_SUCH_TIME = "no_such_time"
"""Type of the ApplicationError for a time that the schedule does not have."""


@dataclass(frozen=True)
class OccurrenceLook:
    """The one argument of LOOK_AT_OCCURRENCE."""

    schedule: str
    workflow_id: str


@dataclass(frozen=True)
class OccurrenceSeen:
    """The newest run under an occurrence's id, `run_id` empty for none and `outcome` empty while it goes on.

    `running` is a run of the job that the schedule knows to go on; `waiting` says that the schedule holds a start back. `version`
    is the schedule's conflict token; `near` are ids of its last runs of times that are later by the jitter at most.
    """

    run_id: str = ""
    outcome: str = ""
    reason: str = ""
    running: str = ""
    waiting: bool = False
    version: str = ""
    near: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class OccurrenceAsk:
    """The one argument of ASK_FOR_OCCURRENCE; `before` is the newest run under the id so far, `version` the token before any request.

    `number` counts the requests for this occurrence, from 0. A `request_id` is taken once on V1, and on V2 as often as it comes.
    """

    schedule: str
    workflow_id: str
    scheduled_at: str
    by: str
    request_id: str
    before: str = ""
    side_by_side: bool = False
    rerun: str = ""
    params: dict[str, dict[str, Any]] = field(default_factory=dict)
    version: str = ""
    number: int = 0


@dataclass(frozen=True)
class ResumeOrder:
    """The one argument of RESUME_WORKFLOW: end the pause with this note at a time, leaving another note."""

    schedule: str
    note: str
    at: str
    resumed: str
