"""Failures of a job in a row. Pure: the state, what happens and when go in; the state and what to do come out."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Literal

from activities.notices.contract import IncidentState

if TYPE_CHECKING:
    from activities.notices.contract import Report, Success, Tended

Action = Literal["failure", "reminder", "recovery", "pause", "resume", "try_once", "look"]
"""The first three tell people, the others are done to the schedule; `look` asks how the job stands."""
Step = tuple[IncidentState, list[Action]]

CALM = IncidentState()
REMEMBERED = 100
"""Runs whose reports are known; the same one may come twice, when a worker was killed."""
FIRST_LOOK, LAST_LOOK, RARELY = 10.0, 900.0, 3600.0
"""Seconds between two looks at a job that fails."""


def take(state: IncidentState, report: Report, now: float) -> Step:
    """A run has ended. One that was reported before changes nothing, nor does a failure before the success that is known."""
    if report.run_id in state.seen:
        return state, []
    seen = [*state.seen, *([report.run_id] if report.run_id else [])][-REMEMBERED:]
    if report.outcome == "succeeded":
        return _succeeded(state, report, seen)
    if _is_after(state.succeeded_at, report.ended_at):
        return replace(state, seen=seen), []
    return _failed(replace(state, seen=seen), report, now)


def due(state: IncidentState, now: float) -> Step:
    """The time of a reminder or of another try has come, or of neither."""
    actions: list[Action] = []
    if state.last is None:
        return state, actions
    alerts = state.last.alerts
    if state.remind_at is not None and now >= state.remind_at:
        actions += ["reminder"] if alerts.remind_every else []
        state = replace(state, remind_at=_later(now, alerts.remind_every))
    if state.retry_at is not None and now >= state.retry_at:
        actions += ["try_once"] if alerts.retry_every else []
        state = replace(state, retry_at=_later(now, alerts.retry_every))
    if state.look_at is not None and now >= state.look_at:
        actions.append("look")
        state = replace(state, look_at=_next_look(state, now))
    return state, actions


def next_due(state: IncidentState) -> float | None:
    """The time at which to ask `due` again."""
    return min((at for at in (state.remind_at, state.retry_at, state.look_at) if at is not None), default=None)


def with_look(state: IncidentState, now: float) -> IncidentState:
    """The state with its next look planned: that of an earlier release has none."""
    if state.last is None or state.look_at is not None:
        return state
    return replace(state, look_at=now, failed_at=state.failed_at or state.last.scheduled_at)


def is_open(state: IncidentState, report: Report) -> bool:
    """Whether a report is of another failure while there was one before."""
    return bool(state.failures) and report.outcome != "succeeded" and report.run_id not in state.seen


def success_between(state: IncidentState, report: Report) -> Success | None:
    """The success after the last failure that a failure's report tells of."""
    success = report.success_before
    return success if success and _is_after(success.ended_at, state.failed_at) else None


def report_of(success: Success, last: Report) -> Report:
    """What a run that succeeded would have told, as far as that is known; `last` is how the job last failed."""
    return replace(
        last,
        outcome="succeeded",
        scheduled_at=success.scheduled_at,
        reason="",
        attempts=success.attempts,
        duration=success.duration,
        output="",
        workflow_id=success.workflow_id,
        run_id=success.run_id,
        ended_at=success.ended_at,
    )


def told_of_pause(state: IncidentState, now: float) -> IncidentState:
    """People know of the incident by its pause, be it before the failure that they are told of."""
    alerts = state.last.alerts if state.last else None
    if state.told or alerts is None:
        return state
    return replace(state, told=True, remind_at=_later(now, alerts.remind_every))


def tended(state: IncidentState, answer: Tended) -> IncidentState:
    """What the schedule is like once something was to be done to it: an operator's pause and resumption both stand."""
    if answer.standing == "gone":
        return CALM
    if state.paused and answer.standing != "paused_by_us":
        return replace(state, paused=False, retry_at=None, since_resumed=0)
    return state


def is_over(state: IncidentState) -> bool:
    """Whether nothing is left to wait for."""
    return not state.failures


def _failed(state: IncidentState, report: Report, now: float) -> Step:
    alerts, actions = report.alerts, list[Action]()
    state = replace(state, failures=state.failures + 1, since_resumed=state.since_resumed + 1, last=report)
    state = replace(state, failed_at=report.ended_at or datetime.fromtimestamp(now, UTC).isoformat())
    state = replace(state, look_at=_next_look(state, now))
    if state.failures == 1:
        state = replace(state, since=report.scheduled_at, first_run=report.run_id)
    if not state.told and state.failures >= alerts.after:
        actions.append("failure")
        state = replace(state, told=True, remind_at=_later(now, alerts.remind_every))
    if alerts.pause_after and state.since_resumed >= alerts.pause_after:
        actions.append("pause")
        state = replace(state, paused=True, since_resumed=0)
    if state.paused:
        state = replace(state, retry_at=_later(now, alerts.retry_every))
    return state, actions


def _succeeded(state: IncidentState, report: Report, seen: list[str]) -> Step:
    actions: list[Action] = []
    actions += ["resume"] if state.paused else []
    actions += ["recovery"] if state.told else []
    return replace(CALM, seen=seen, succeeded_at=report.ended_at), actions


def _next_look(state: IncidentState, now: float) -> float:
    """Soon, and then ever more rarely, where the next success does not know that it has to tell; else it is a precaution."""
    if state.last is not None and state.last.handed_on:
        return now + RARELY
    return now + min(max((now - datetime.fromisoformat(state.failed_at).timestamp()) / 4, FIRST_LOOK), LAST_LOOK)


def _is_after(one: str, other: str) -> bool:
    """Of two times, either of which may not be known."""
    return bool(one and other) and datetime.fromisoformat(one) > datetime.fromisoformat(other)


def _later(now: float, after: float | None) -> float | None:
    return None if after is None else now + after
