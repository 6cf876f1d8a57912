"""A notice in words for people, and as the JSON document that webhooks get. Pure."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import quote
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from activities.notices.contract import Notice

DOCUMENT_VERSION = 1
_MINUTE = 60.0


def title_of(notice: Notice) -> str:
    """One line: what happened to which job."""
    times = f"{notice.failures} times in a row" if notice.failures > 1 else "once"
    what = {
        "failure": f"{notice.job} failed {times}",
        "reminder": f"{notice.job} still fails, {times}",
        "paused": f"{notice.job} is paused: it failed {times}",
        "recovery": f"{notice.job} succeeded again",
        "missed": f"{notice.job} did not run",
        "test": f"A test of the channels of {notice.project}",
    }[notice.event]
    return f"[{notice.project}/{notice.environment}] {what}"


def text_of(notice: Notice, run_url: str) -> str:
    """What a person needs to act on it, a fact a line; the last lines of output stand at the end."""
    return "\n".join(_lines(notice, run_url))


def document_of(notice: Notice, run_url: str) -> dict[str, Any]:
    """The body of a webhook: every key is always there; what is not known is null, or empty text."""
    return {
        "version": DOCUMENT_VERSION,
        "event": notice.event,
        "title": title_of(notice),
        "text": text_of(notice, run_url),
        "project": notice.project,
        "environment": notice.environment,
        "job": notice.job,
        "scheduled_at": notice.scheduled_at or None,
        "scheduled_local": local_time(notice.scheduled_at, notice.timezone) or None,
        "timezone": notice.timezone,
        "outcome": notice.outcome or None,
        "reason": notice.reason,
        "attempts": notice.attempts,
        "duration": notice.duration,
        "output": notice.output,
        "failures": notice.failures,
        "since": notice.since or None,
        "contact": notice.contact,
        "runbook": notice.runbook or None,
        "run_url": run_url or None,
        "workflow_id": notice.workflow_id or None,
        "run_id": notice.run_id or None,
    }


def run_url_of(ui_url: str, namespace: str, notice: Notice) -> str:
    """The run in Temporal's Web UI; empty without its address, or without a run."""
    if not ui_url or not notice.workflow_id:
        return ""
    path = f"{quote(namespace, '')}/workflows/{quote(notice.workflow_id, '')}"
    return f"{ui_url.rstrip('/')}/namespaces/{path}" + (f"/{notice.run_id}/history" if notice.run_id else "")


def local_time(text: str, timezone: str) -> str:
    """A time of the wire in a zone, as people write it; in UTC where this machine does not know the zone."""
    if not text:
        return ""
    at = datetime.fromisoformat(text)
    try:
        return f"{at.astimezone(ZoneInfo(timezone)):%a %Y-%m-%d %H:%M:%S %Z}"
    except (ZoneInfoNotFoundError, ValueError):
        return f"{at:%a %Y-%m-%d %H:%M:%S} UTC"


def _lines(notice: Notice, run_url: str) -> Iterator[str]:
    if notice.scheduled_at:
        yield f"Scheduled for: {local_time(notice.scheduled_at, notice.timezone)}"
    if notice.outcome:
        yield f"Outcome: {notice.outcome.replace('_', ' ')}{_effort(notice)}"
    if notice.reason:
        yield f"Reason: {notice.reason}"
    if notice.failures and notice.since:
        first = local_time(notice.since, notice.timezone)
        yield f"Failed: {notice.failures} in a row; the first was scheduled for {first}"
    yield from (
        f"{name}: {value}"
        for name, value in (("Contact", notice.contact), ("Runbook", notice.runbook), ("Run", run_url))
        if value
    )
    if notice.output:
        yield f"Last lines of output:\n{notice.output}"


def _effort(notice: Notice) -> str:
    told = []
    if notice.attempts is not None:
        told.append(f"{notice.attempts} attempt{'' if notice.attempts == 1 else 's'}")
    if notice.duration is not None:
        told.append(f"{notice.duration:.1f} s" if notice.duration < _MINUTE else f"{notice.duration / _MINUTE:.1f} min")
    return f" ({', '.join(told)})" if told else ""
