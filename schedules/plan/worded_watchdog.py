"""What a change of a watchdog does, as `on_missed` of the jobs that it looks after. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from activities.notices.contract import WATCHDOG_WORKFLOW
from schedules.plan.differences import FieldDiff
from schedules.plan.worded_job import request_of
from schedules.plan.worded_notices import channels_of, channels_worded
from schedules.plan.words import in_words

if TYPE_CHECKING:
    from schedules.model import DesiredSchedule, ObservedSchedule
    from schedules.plan.change import Change

FOLLOWS = ("action.args", "action.summary", "times.")
"""Fields that follow from the jobs that are looked after."""
NAMES = {"action.task_queue": "task_queue"}


def is_watchdog(change: Change) -> bool:
    """Whether the schedule is a watchdog, and stays or becomes one."""
    sides = [side for side in (change.observed, change.desired) if side]
    return all(side.action.workflow_type == WATCHDOG_WORKFLOW for side in sides)


def watchdog_worded(change: Change) -> Iterator[FieldDiff]:
    """Each job with its place in the file: `jobs.NAME.on_missed…`."""
    if change.observed and change.observed.unreadable:
        yield from change.diff
        return
    for item in change.diff:
        if not item.field.startswith(FOLLOWS):
            yield FieldDiff(NAMES.get(item.field, item.field), item.before, item.after)
    before, after = (_watched(side) for side in (change.observed, change.desired))
    found = [diff for job in {**before, **after} for diff in _of_job(job, before.get(job), after.get(job))]
    old, new = (_channels(side) for side in (change.observed, change.desired))
    yield from found
    yield from channels_worded(old, new)
    if not found and any(item.field.startswith("action.args") for item in change.diff) and old == new:
        changed = [job for job, said in after.items() if said != before.get(job)]
        yield FieldDiff("looks at", "the times before", f"those in the file, of {', '.join(changed)}")


def moved_worded(changes: Iterable[Change]) -> dict[str, list[FieldDiff]]:
    """By job what changes for those that another watchdog of the project will look after, from another task queue."""
    goes: dict[str, tuple[str, Mapping[str, Any]]] = {}
    comes: dict[str, tuple[str, Mapping[str, Any]]] = {}
    for change in filter(is_watchdog, changes):
        before, after = (_watched(side) for side in (change.observed, change.desired))
        for side, own, others, found in (
            (change.observed, before, after, goes),
            (change.desired, after, before, comes),
        ):
            if side:
                found |= {job: (side.action.task_queue, said) for job, said in own.items() if job not in others}
    return {
        job: [
            FieldDiff(f"jobs.{job}.on_missed.task_queue", goes[job][0], comes[job][0]),
            *_of_job(job, goes[job][1], comes[job][1]),
        ]
        for job in goes.keys() & comes.keys()
    }


def watching(change: Change, field: str) -> list[str]:
    """The jobs whose missed runs are told to the channel of a field such as `channels.ops.apprise`."""
    after = _watched(change.desired or change.observed)
    return [job for job, said in after.items() if field.split(".")[1:2] in [[name] for name in said["channels"]]]


def _of_job(job: str, before: Mapping[str, Any] | None, after: Mapping[str, Any] | None) -> Iterator[FieldDiff]:
    place = f"jobs.{job}.on_missed"
    if before is None or after is None:
        yield FieldDiff(place, *(side and list(side["channels"]) for side in (before, after)))
        return
    for name in ("channels", "grace", "paused_for"):
        if before[name] != after[name]:
            yield in_words(f"{place}.{name}", before[name], after[name])


def _watched(side: DesiredSchedule | ObservedSchedule | None) -> dict[str, dict[str, Any]]:
    """By job what `on_missed` says of it, and its times."""
    request = request_of(side.action.args) if side else {}
    targets = request.get("targets") or []
    return {
        watched["job"]: {
            "channels": list(dict.fromkeys(targets[place]["channel"] for place in watched["targets"])),
            "grace": watched["grace"] - (watched.get("jitter") or 0),
            "paused_for": watched["paused_for"],
            "times": watched["times"],
        }
        for watched in request.get("jobs") or ()
    }


def _channels(side: DesiredSchedule | ObservedSchedule | None) -> Mapping[str, Any]:
    return channels_of(request_of(side.action.args).get("targets") if side else None)
