"""The notices about an occurrence, or the reason that there are none. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from activities.account.facts import MISSABLE, NOT_RUN
from activities.occurrence import stamp
from schedules.text.duration import format_duration

if TYPE_CHECKING:
    from collections.abc import Sequence

    from activities.account.facts import Run, Verdict
    from activities.notices.contract import AlertRequest
    from activities.watchdog.contract import WatchedJob, WatchState
    from schedules.ledger.notices.sent import NoticeHistory, Sent

REPORTED = frozenset({"failed", "timed_out", "compensation_failed"})
ENDS = frozenset({"succeeded", "gone"})
"""What ends an incident."""
FIRST = frozenset({"failure", "paused"})
"""The notices by which people learn of an incident."""
DIRECT = "not known for a workflow that the schedule starts itself (direct)"
UNREADABLE = "not known: its data cannot be read here, because the key is missing or the data is gone"


@dataclass(frozen=True, slots=True)
class Incident:
    """The incident in which a run has a part: as failure `number` in a row since `since`, or 0 for the success that ended it.

    `told_of` is the run of its first notice, `ended_by` that of its end; both empty where there is none.
    """

    workflow_id: str
    run_id: str
    since: str
    number: int
    told_of: str = ""
    ended_by: str = ""


@dataclass(frozen=True, slots=True)
class Notified:
    """`why` nobody was told; empty where somebody was."""

    sent: tuple[Sent, ...] = ()
    why: str = ""
    incident: Incident | None = None


@dataclass(frozen=True, slots=True)
class Watching:
    """The state of a watchdog after its newest run: of the job that is meant, and of all its jobs."""

    job: WatchedJob
    state: WatchState


def of_run(run: Run, alerts: AlertRequest | None, told: Sequence[NoticeHistory]) -> Notified:
    """`told` are the parts of the job's incidents that were open when the run ended."""
    sent = tuple(
        each
        for part in told
        for each in part.sent
        if (each.about_run == run.run_id if each.about_run else each.about == run.id)
    )
    incident = next((found for part in told if (found := _part_of(run, part))), None)
    if not sent and not all(part.readable for part in told):
        return Notified(why=UNREADABLE)
    return Notified(sent, "" if sent else _why_not_told(run, alerts, incident), incident)


def of_missed(at: datetime, verdict: Verdict, told: NoticeHistory | None, watching: Watching | None) -> Notified:
    """`told` is the notice of just this time, if there is one."""
    if told and told.sent:
        return Notified(told.sent)
    if told and not told.readable:
        return Notified(why=UNREADABLE)
    return Notified(why=_why_not_missed(at, verdict, watching))


def _part_of(run: Run, part: NoticeHistory) -> Incident | None:
    """The reports are taken as the incident takes them: each run once, and a success begins anew, as does a job made anew."""
    failures, since, found = part.failures, part.since, None
    for report in part.reports:
        succeeded = report.outcome in ENDS
        if found:
            if succeeded:
                return _with_notices(found, part, "" if report.outcome == "gone" else report.workflow_id)
            continue
        if not succeeded:
            failures, since = failures + 1, since or report.scheduled_at
        if report.is_of(run.run_id, run.id):
            if succeeded:
                return _with_notices((since, 0), part, report.workflow_id)
            found = (since, failures)
        if succeeded:
            failures, since = 0, ""
    return _with_notices(found, part, "") if found else None


def _with_notices(found: tuple[str, int], part: NoticeHistory, ended_by: str) -> Incident:
    since, number = found
    first = next((each.about for each in part.sent if each.event in FIRST and each.since == since), "")
    told_of = first or ("a run before" if part.was_told and part.since == since else "")
    return Incident(part.workflow_id, part.run_id, since, number, told_of, ended_by)


def _why_not_told(run: Run, alerts: AlertRequest | None, incident: Incident | None) -> str:
    if run.closed_at is None:
        return "it goes on"
    if run.verdict in NOT_RUN or run.verdict == "cancelled":
        return f"a run that ended as {run.verdict} says nothing about the job"
    if alerts is None or not (alerts.on_failure or alerts.on_recovery):
        return "no channel: the spec of that time had neither on_failure nor on_recovery"
    if run.verdict == "succeeded":
        return _why_no_recovery(alerts, incident)
    if run.verdict not in REPORTED or run.status in {"terminated", "timed_out"}:
        return f"the server ended the run ({run.status}), so the run could not report its failure"
    if incident is None:
        return "no incident of that time has the run: it was not reported, or the namespace no longer keeps it"
    return _why_no_failure(alerts, incident)


def _why_no_recovery(alerts: AlertRequest, incident: Incident | None) -> str:
    if incident is None or not incident.since:
        return "it succeeded, and no incident was open"
    if not incident.told_of:
        return f"it ended the incident since {incident.since} before a notice of that was sent"
    if alerts.on_recovery == []:
        return f"on_recovery names no channel; it ended the incident since {incident.since}"
    return f"the recovery notice of the incident since {incident.since} follows when the notices before it are delivered or given up"


def _why_no_failure(alerts: AlertRequest, incident: Incident) -> str:
    if not alerts.on_failure:
        return "no channel: on_failure of the spec of that time names none"
    if incident.number < alerts.after:
        return f"failure {incident.number} in a row, and the notice comes with failure {alerts.after} (after: {alerts.after})"
    if incident.told_of:
        return f"the incident, open since {incident.since}, already had its notice, for {incident.told_of}"
    return "the incident has sent no notice yet"


def _why_not_missed(at: datetime, verdict: Verdict, watching: Watching | None) -> str:
    if verdict not in MISSABLE:
        return f"on_missed does not cover the outcome {verdict}"
    if watching is None:
        return "no watchdog has checked the job: it has no on_missed, or no worker runs the watchdog"
    job, state = watching.job, watching.state
    until = at + timedelta(seconds=job.grace)
    if not state.looked_at or until > datetime.fromisoformat(state.looked_at):
        looked = state.looked_at or "never"
        return f"its grace of {_length(job.grace)} ends at {stamp(until)}; the last check of the watchdog: {looked}"
    if (first := state.missing.get(job.job)) and job.job in state.told:
        return f"the job had its notice, for its time {first}; the next comes after it has run again"
    if first and job.job in state.paused:
        return f"the job is paused, and the notice comes after {_length(job.paused_for)} (paused_for)"
    return (
        "the watchdog did not see it: it checks only the newest time, and cannot check while its own workers are away"
    )


def _length(seconds: float) -> str:
    return format_duration(timedelta(seconds=round(seconds)))
