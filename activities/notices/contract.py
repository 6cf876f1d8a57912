"""The wire format of notifications, beside `activities.contract`: stored in Temporal's history, so fields are only ever added.

Plain frozen dataclasses of JSON values; durations are seconds, times RFC 3339 in UTC.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

INCIDENT_WORKFLOW = "TickwrightIncident"
NOTICE_WORKFLOW = "TickwrightNotice"
WATCHDOG_WORKFLOW = "TickwrightWatchdog"
REPORT_ENDING = "report_ending"
SEND_NOTICE = "send_notice"
SEND_PING = "send_ping"
TEND_SCHEDULE = "tend_schedule"
LOOK_FOR_MISSED = "look_for_missed"
ENDED_SIGNAL = "ended"
INCIDENT_PREFIX = "tickwright-incident-"
"""Begins the id of the one workflow that keeps a job's incident; the job's name follows."""
MISSED_PREFIX = "tickwright-missed-"
"""Begins the id of the workflow that tells of a missed run; the job's name and the scheduled time follow."""
INCIDENT_MEMO = "TickwrightIncident"
"""Memo of an incident: `since` (scheduled time of its first failure), `after`, and `channels` by name."""

PAUSE_MARK = "Paused after failures in a row: "
"""Begins the note of a schedule that was paused for its failures; any other note is an operator's."""

Event = Literal["failure", "reminder", "paused", "recovery", "missed", "test"]
Deed = Literal["look", "pause", "resume", "try_once"]
Standing = Literal["going", "paused_by_us", "paused_by_other", "gone"]
Sign = Literal["start", "success", "fail"]


@dataclass(frozen=True)
class Target:
    """One address of a channel, secrets still as references: an `apprise` one, or the `url` of a webhook."""

    channel: str
    apprise: str = ""
    url: str = ""
    headers: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class AlertRequest:
    """Who is told of what becomes of a job, and what failures in a row lead to.

    `on_recovery` is None for those of `on_failure`. `carried`: the server hands on from run to run how the last one ended.
    """

    on_failure: list[Target] = field(default_factory=list)
    on_recovery: list[Target] | None = None
    after: int = 1
    remind_every: float | None = None
    pause_after: int | None = None
    retry_every: float | None = None
    contact: str = ""
    runbook: str = ""
    ping: str = ""
    carried: bool = True

    @property
    def wants_reports(self) -> bool:
        """Whether anything follows from failures in a row."""
        return bool(self.on_failure or self.on_recovery or self.pause_after)


@dataclass(frozen=True)
class Success:
    """A run that succeeded. `run_id` is empty where only the run after it tells of it."""

    scheduled_at: str
    workflow_id: str
    run_id: str
    ended_at: str
    attempts: int | None
    duration: float


@dataclass(frozen=True)
class Report:
    """How a run ended, for the incident of its job. `output` are its last lines.

    What the schedule hands on from run to run, native carry-over, tells of the run before this one: `after_failure`, or
    `success_before`, or neither where it says nothing. `handed_on`: it tells the next one of a failure of this one.
    """

    project: str
    environment: str
    job: str
    timezone: str
    outcome: str
    scheduled_at: str
    reason: str
    attempts: int | None
    duration: float
    output: str
    workflow_id: str
    run_id: str
    alerts: AlertRequest
    ended_at: str = ""
    handed_on: bool = False
    after_failure: bool = False
    success_before: Success | None = None


def incident_memo(report: Report) -> dict[str, Any]:
    """What List shows of an incident that begins with a report, so that a look at all jobs needs nothing else."""
    channels = list(dict.fromkeys(target.channel for target in report.alerts.on_failure))
    return {"since": report.scheduled_at, "after": report.alerts.after, "channels": channels}


@dataclass(frozen=True)
class IncidentState:
    """What is known of a job's failures in a row; all is as at the beginning once a run has succeeded.

    `remind_at`, `retry_at` and `look_at` are seconds of Unix time; at the last one the incident asks how the job stands.
    `since_resumed` counts the failures that pausing looks at; `failed_at` is when the last of all ended, `succeeded_at` when
    the success did that ended the incident before.
    """

    failures: int = 0
    since_resumed: int = 0
    since: str = ""
    first_run: str = ""
    told: bool = False
    paused: bool = False
    notices: int = 0
    remind_at: float | None = None
    retry_at: float | None = None
    seen: list[str] = field(default_factory=list)
    last: Report | None = None
    failed_at: str = ""
    succeeded_at: str = ""
    look_at: float | None = None


@dataclass(frozen=True)
class Notice:
    """What a notification tells. `failures` in a row began at `since`; `missed` is how many runs were."""

    event: Event
    project: str
    environment: str
    job: str
    timezone: str
    scheduled_at: str = ""
    outcome: str = ""
    reason: str = ""
    attempts: int | None = None
    duration: float | None = None
    output: str = ""
    failures: int = 0
    since: str = ""
    contact: str = ""
    runbook: str = ""
    workflow_id: str = ""
    run_id: str = ""


@dataclass(frozen=True)
class Delivery:
    """The one argument of the activity that sends: the same `key` in every attempt."""

    notice: Notice
    target: Target
    key: str


@dataclass(frozen=True)
class Post:
    """The one argument of the workflow that sends one notice to several addresses; `attempts` 0 is for a day."""

    notice: Notice
    targets: list[Target]
    key: str
    attempts: int = 0


@dataclass(frozen=True)
class Ping:
    """A sign of life for an outside monitor: `url` with its secret as a reference; `reason` is told with `fail`."""

    url: str
    sign: Sign
    run_id: str
    reason: str = ""


@dataclass(frozen=True)
class Tending:
    """What is to be done to the schedule of a job that fails. A look asks for a success after `since` as well, if that is given."""

    job: str
    deed: Deed
    note: str = ""
    since: str = ""


@dataclass(frozen=True)
class Tended:
    """How the schedule stands now, whether the deed has changed that, and the success that was asked for.

    `gone` is also one that was made anew since the job last failed, whose failures were another's, and one that tells nobody any more.
    """

    standing: Standing
    changed: bool = False
    success: Success | None = None
