"""What follows from a job's failures in a row. Pure: the state, what happens and when go in; the state and what to do come out."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from activities.alerts import IncidentState

if TYPE_CHECKING:
    from activities.alerts import Report, Tended

Action = Literal["failure", "reminder", "recovery", "pause", "resume", "try_once"]
"""The first three tell people, the others are done to the schedule."""
Step = tuple[IncidentState, list[Action]]

CALM = IncidentState()
REMEMBERED = 100
"""Runs whose reports are known; the same one may come twice, when a worker was killed."""


def take(state: IncidentState, report: Report, now: float) -> Step:
    """A run has ended. One that was reported before changes nothing."""
    if report.run_id in state.seen:
        return state, []
    seen = [*state.seen, report.run_id][-REMEMBERED:]
    if report.outcome == "succeeded":
        return _succeeded(state, seen)
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
    return state, actions


def next_due(state: IncidentState) -> float | None:
    """When to ask `due` again."""
    return min((at for at in (state.remind_at, state.retry_at) if at is not None), default=None)


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


def _succeeded(state: IncidentState, seen: list[str]) -> Step:
    actions: list[Action] = []
    actions += ["resume"] if state.paused else []
    actions += ["recovery"] if state.told else []
    return replace(CALM, seen=seen), actions


def _later(now: float, after: float | None) -> float | None:
    return None if after is None else now + after
