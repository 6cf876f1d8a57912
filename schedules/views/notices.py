"""Notices about an occurrence, as lines and as JSON: channels by name, never their addresses. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from activities.occurrence import stamp
from schedules.views.occurrences import instant_json

if TYPE_CHECKING:
    from collections.abc import Iterator

    from schedules.ledger.notices.notified import Incident, Notified
    from schedules.ledger.notices.sent import Sent


def alerts_json(alerts: Notified) -> dict[str, Any]:
    """`none_because` is null where somebody was told; times are RFC 3339 in UTC."""
    return {
        "notices": [sent_json(each) for each in alerts.sent],
        "none_because": alerts.why or None,
        "incident": _incident_json(alerts.incident) if alerts.incident else None,
    }


def alert_lines(alerts: Notified) -> Iterator[tuple[str, str]]:
    """Labels and texts."""
    for each in alerts.sent:
        yield "notice", _sent(each)
    if alerts.why:
        yield "notice", f"none: {alerts.why}"
    if alerts.incident:
        yield "incident", _incident(alerts.incident)


def delivery_text(sent: Sent) -> str:
    """What became of a notice, to which channel and when."""
    tries = f"{sent.attempts} attempt{'' if sent.attempts == 1 else 's'}"
    what = {
        "delivered": f"delivered at {stamp(sent.at)}, {tries}",
        "given_up": f"given up at {stamp(sent.at)}, {tries}",
        "under_way": f"not delivered yet, {tries} since {stamp(sent.at)}",
    }[sent.state]
    error = f": {sent.error}" if sent.error else ""
    return f"{sent.event} to channel {sent.channel}: {what}{error}"


def _sent(sent: Sent) -> str:
    return f"{delivery_text(sent)} ({sent.workflow_id} {sent.run_id}, event {sent.event_id})"


def _incident(incident: Incident) -> str:
    part = f"failure {incident.number} in a row" if incident.number else "ended by this success"
    told = f"notice sent for {incident.told_of}" if incident.told_of else "no notice sent"
    end = f"ended by {incident.ended_by}" if incident.ended_by else "no success since"
    return f"{part}; since {incident.since}, {told}, {end} ({incident.workflow_id} {incident.run_id})"


def sent_json(sent: Sent) -> dict[str, Any]:
    """A notice; `state` is delivered, under_way or given_up."""
    return {
        "event": sent.event,
        "channel": sent.channel,
        "state": sent.state,
        "at": instant_json(sent.at),
        "attempts": sent.attempts,
        "error": sent.error or None,
        "evidence": {"workflow_id": sent.workflow_id, "run_id": sent.run_id, "event_id": sent.event_id},
    }


def _incident_json(incident: Incident) -> dict[str, Any]:
    return {
        "workflow_id": incident.workflow_id,
        "run_id": incident.run_id,
        "since": incident.since,
        "failure_in_a_row": incident.number or None,
        "told_of": incident.told_of or None,
        "ended_by": incident.ended_by or None,
    }
