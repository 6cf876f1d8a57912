"""What a change does to a job, in the words of the file. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from schedules.plan.differences import FieldDiff
from schedules.plan.worded_notices import notices_worded
from schedules.plan.worded_schedule import schedule_worded
from schedules.plan.worded_steps import steps_worded
from schedules.plan.words import in_words
from schedules.spec.describe import written_of

if TYPE_CHECKING:
    from schedules.model import DesiredSchedule, ObservedSchedule
    from schedules.plan.change import Update

ARGUMENT = "action.args[0]."
WORDED = (
    "times.",
    "policies.overlap",
    "policies.catchup_window",
    "action.task_queue",
    "action.summary",
    "action.details",
    *(
        ARGUMENT + name
        for name in ("times", "steps", "deadline", "catchup", "alerts", "shadow", "start_at", "project", "environment")
    ),
)
"""Fields on the server that are worded by a rule here, or follow from another."""
WINDOW = "policies.catchup_window"
TEXTS = ("description", "labels", "contact", "runbook")


def job_worded(change: Update, shown: Iterable[FieldDiff]) -> Iterator[FieldDiff]:
    """Of a schedule that runs a job before and after; `shown` are the differences on the server."""
    shown = list(shown)
    before, after = (request_of(each.action.args) for each in (change.observed, change.desired))
    old, new = (written_of(each.action.details) for each in (change.observed, change.desired))
    yield from schedule_worded(change)
    yield from _settings(_settings_of(change.observed, before), _settings_of(change.desired, after))
    yield from steps_worded(before["steps"], after["steps"], old, new)
    if before.get("shadow") == after.get("shadow"):  # A job in shadow mode tells nobody.
        yield from notices_worded(before.get("alerts") or {}, after.get("alerts") or {})
    unsaid = {item.field for item in change.observed.other}
    yield from (item for item in shown if item.field in unsaid or not item.field.startswith(WORDED))
    fields = {item.field for item in change.diff}
    if WINDOW in fields and f"{ARGUMENT}catchup.window" not in fields:
        yield from (item for item in shown if item.field == WINDOW)
    yield from _texts(change)


def request_of(args: Iterable[Any]) -> Mapping[str, Any]:
    """What a run is given; empty for what no sync has written."""
    first = next(iter(args), None)
    return first if isinstance(first, Mapping) else {}


def _settings_of(schedule: DesiredSchedule | ObservedSchedule, request: Mapping[str, Any]) -> dict[str, Any]:
    catchup = request.get("catchup") or {}
    policy = catchup.get("policy")
    return {
        "jitter": schedule.times.jitter or None,
        "overlap": schedule.policies.overlap,
        "task_queue": schedule.action.task_queue,
        "deadline": request.get("deadline"),
        "catchup.policy": policy,
        "catchup.max_missed": catchup.get("max_missed", 1) if policy == "run_all" else None,
        "start_deadline": catchup.get("start_deadline"),
        "mode": "shadow" if request.get("shadow") else "live",
    }


def _settings(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[FieldDiff]:
    for name, was in before.items():
        if was != after[name]:
            yield in_words(name, was, after[name])


def _texts(change: Update) -> Iterator[FieldDiff]:
    """The description, labels and other words, which stand in the details alone."""
    before, after = change.observed.action, change.desired.action
    old, new = written_of(before.details), written_of(after.details)
    if old.schedule and new.schedule:
        for name in TEXTS:
            was, becomes = getattr(old, name), getattr(new, name)
            if was != becomes:
                yield FieldDiff(name, was or None, becomes or None)
    elif before.details != after.details:
        yield FieldDiff("words for the Web UI", "as before", "as in the file")
    if before.details == after.details and before.summary != after.summary:
        yield FieldDiff("description", before.summary, after.summary)
