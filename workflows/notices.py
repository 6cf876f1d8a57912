"""From an incident to what is told of it. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from activities.notices.contract import PAUSE_MARK, Notice
from activities.steps.output import cut_end

if TYPE_CHECKING:
    from activities.notices.contract import Event, IncidentState, Report

LONGEST_REASON = 400
"""Characters; the server takes notes of a thousand."""


def notice_of(event: Event, state: IncidentState, last: Report) -> Notice:
    """The incident as it stands with its last run."""
    return Notice(
        event=event,
        project=last.project,
        environment=last.environment,
        job=last.job,
        timezone=last.timezone,
        scheduled_at=last.scheduled_at,
        outcome=last.outcome,
        reason=last.reason,
        attempts=last.attempts,
        duration=last.duration,
        output=last.output,
        failures=state.failures,
        since=state.since,
        contact=last.alerts.contact,
        runbook=last.alerts.runbook,
        workflow_id=last.workflow_id,
        run_id=last.run_id,
    )


def pause_note(state: IncidentState, last: Report) -> str:
    """The note of a schedule that is paused for its failures."""
    then = "resume it once the cause is gone"
    if last.alerts.retry_every:
        then = f"one run is tried every {last.alerts.retry_every:g} s, and the first that succeeds resumes it"
    reason = cut_end(" ".join(last.reason.split()), LONGEST_REASON)
    return f"{PAUSE_MARK}{state.failures}, the last scheduled for {last.scheduled_at} ({reason}); {then}"
