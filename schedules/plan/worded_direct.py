"""What a change does to a job whose schedule starts a workflow itself, or stops doing so, in the words of the file. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from activities.contract import JOB_WORKFLOW
from schedules.cron.notation.literal import literal_text
from schedules.plan.differences import FieldDiff
from schedules.plan.worded_job import request_of
from schedules.plan.worded_schedule import times_worded
from schedules.plan.words import in_words

if TYPE_CHECKING:
    from schedules.model import Action
    from schedules.plan.change import Update

DIRECT = "run.workflow.direct."
NAMES = {
    "times.timezone": "timezone",
    "times.jitter": "jitter",
    "times.start_at": f"{DIRECT}start_at",
    "times.end_at": f"{DIRECT}end_at",
    "policies.overlap": "overlap",
    "policies.catchup_window": f"{DIRECT}catchup_window",
    "policies.pause_on_failure": f"{DIRECT}pause_on_failure",
    "action.task_queue": "task_queue",
    "action.workflow_type": "run.workflow.type",
    "action.args": "run.workflow.args",
    "action.workflow_id": f"{DIRECT}id",
    "action.": DIRECT,
}
"""Fields on the server, or how they begin, by their words in the file; the first that fits."""
CALENDARS = ("times.calendars", "times.intervals", "times.exclusions")
EXCLUSIONS = "times.exclusions"
OF_RUN = ("action.", "policies.catchup_window", "policies.pause_on_failure", "times.start_at", "times.end_at")
"""What another kind of run brings with it."""


def direct_worded(change: Update) -> Iterator[FieldDiff]:
    """Of a schedule that starts a workflow of the user's before or after."""
    before, after = change.observed.action, change.desired.action
    other_kind = JOB_WORKFLOW in {before.workflow_type, after.workflow_type}
    if other_kind:
        yield FieldDiff("run", _run(before), _run(after))
    yield from _schedule(change)
    for item in change.diff:
        field = item.field
        of_run = field.startswith(OF_RUN) and field != "action.task_queue"
        ends = field == "times.end_at" and any(each.field.startswith(CALENDARS) for each in change.diff)
        if not (field.startswith(CALENDARS) or ends or (other_kind and of_run)):
            yield in_words(_name(field), _value(field, item.before), _value(field, item.after))


def _schedule(change: Update) -> Iterator[FieldDiff]:
    fields = {item.field.partition("[")[0] for item in change.diff if item.field.startswith(CALENDARS)}
    if fields == {EXCLUSIONS}:
        goes, comes = change.observed.times.exclusions, change.desired.times.exclusions
        yield FieldDiff(f"{DIRECT}exclude", *([literal_text(each) for each in side] for side in (goes, comes)))
    elif fields:
        yield from times_worded(change.observed.times, change.desired.times)


def _name(field: str) -> str:
    for begin, word in NAMES.items():
        if field.startswith(begin):
            return word + field.removeprefix(begin)
    return field


def _value(field: str, value: Any) -> Any:
    """0 seconds stand for none."""
    return None if not value and (field == "times.jitter" or field.endswith("_timeout")) else value


def _run(action: Action) -> Any:
    if action.workflow_type != JOB_WORKFLOW:
        return {"workflow": {"type": action.workflow_type, "direct": {}}}
    steps = request_of(action.args).get("steps")
    if not isinstance(steps, list | tuple):
        return None
    handlers = [step.get("handler") for step in steps]
    return {handlers[0]: steps[0].get("params")} if len(handlers) == 1 else {"steps": handlers}
