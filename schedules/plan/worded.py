"""The differences of a change in the words of the spec file. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from activities.contract import JOB_WORKFLOW
from schedules.plan.change import Update
from schedules.plan.worded_direct import direct_worded
from schedules.plan.worded_job import job_worded, request_of
from schedules.plan.worded_schedule import STAY
from schedules.plan.worded_watchdog import is_watchdog, watchdog_worded
from schedules.plan.worth_showing import worth_showing
from schedules.spec.describe import written_of

if TYPE_CHECKING:
    from schedules.model import Action
    from schedules.plan.change import Change
    from schedules.plan.differences import FieldDiff

STEP_KEYS = frozenset({"name", "handler", "params"})


def worded(change: Change) -> tuple[FieldDiff, ...]:
    """What a person who knows the file has changed, each thing once; values are words, such as `30m`.

    What the file has no word for keeps its name on the server. A watchdog is worded as `on_missed` of its jobs, one that is
    made or deleted, too.
    """
    if is_watchdog(change):
        return tuple(watchdog_worded(change))
    if not isinstance(change, Update):
        return ()
    shown = worth_showing(change)
    found = list(_of_update(change, shown))
    once = {(item.field, repr(item.before), repr(item.after)): item for item in found}
    stays = any(note.startswith(STAY) for note in change.consequences.notes)
    return tuple(once.values()) or (() if stays else shown)


def _of_update(change: Update, shown: tuple[FieldDiff, ...]) -> tuple[FieldDiff, ...]:
    before, after = change.observed.action, change.desired.action
    if change.observed.unreadable:
        return shown
    if after.workflow_type != JOB_WORKFLOW:
        return tuple(direct_worded(change))
    if before.workflow_type != JOB_WORKFLOW and not written_of(before.details).schedule:
        return tuple(direct_worded(change))
    return tuple(job_worded(change, shown)) if _is_of_a_job(before) and _is_of_a_job(after) else shown


def _is_of_a_job(action: Action) -> bool:
    """Whether its argument has the form that a sync gives it: by hand, anything can be written there."""
    steps = request_of(action.args).get("steps")
    return (
        action.workflow_type == JOB_WORKFLOW
        and isinstance(steps, list | tuple)
        and bool(steps)
        and all(isinstance(step, Mapping) and step.keys() >= STEP_KEYS for step in steps)
        and all(isinstance(step["params"], Mapping) for step in steps)
    )
