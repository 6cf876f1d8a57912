"""The differences of a change in the words of the spec file. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from activities.contract import JOB_WORKFLOW, RetryRequest
from activities.notices.contract import WATCHDOG_WORKFLOW
from schedules.plan.change import Update
from schedules.plan.differences import FieldDiff
from schedules.plan.worded_notices import notices_worded
from schedules.plan.worded_schedule import STAY, schedule_worded
from schedules.plan.worth_showing import worth_showing
from schedules.spec.describe import written_of
from schedules.text.duration import format_duration

if TYPE_CHECKING:
    from schedules.model import Action
    from schedules.plan.change import Change

ARGUMENT = "action.args[0]."
TIMES = ("times.calendars", "times.intervals", "times.exclusions", "times.timezone")
ELSEWHERE = (
    *TIMES,
    "policies.catchup_window",
    "action.summary",
    "action.details",
    f"{ARGUMENT}times",
    f"{ARGUMENT}alerts",
    f"{ARGUMENT}steps",
    f"{ARGUMENT}start_at",
)
"""What is worded by a rule of its own, or follows from the rest."""
NAMES = {
    "times.jitter": "jitter",
    "policies.overlap": "overlap",
    "action.task_queue": "task_queue",
    f"{ARGUMENT}deadline": "deadline",
    f"{ARGUMENT}catchup": "catchup",
    f"{ARGUMENT}catchup.policy": "catchup.policy",
    f"{ARGUMENT}catchup.max_missed": "catchup.max_missed",
    f"{ARGUMENT}catchup.start_deadline": "start_deadline",
    f"{ARGUMENT}shadow": "mode",
    f"{ARGUMENT}claim": "claim",
}
MODES = {False: "live", None: "live", True: "shadow"}
DURATIONS = frozenset(
    {
        "timeout",
        "heartbeat_timeout",
        "start_timeout",
        "deadline",
        "start_deadline",
        "jitter",
        "initial",
        "max",
        "catchup_window",
    }
)
STEP = re.compile(r"action\.args\[0\]\.steps\[(?P<step>[^\]]+)\](?:\.(?P<rest>.+))?")
ONLY_STEP = "run"
STEP_KEYS = frozenset({"name", "handler", "params"})


def worded(change: Change) -> tuple[FieldDiff, ...]:
    """What a person who knows the file has changed, each thing once; values are words, such as `30m`.

    What the file has no word for keeps its name on the server.
    """
    if not isinstance(change, Update):
        return ()
    if change.desired.action.workflow_type == WATCHDOG_WORKFLOW == change.observed.action.workflow_type:
        return _of_watchdog(change)
    shown = worth_showing(change)
    if not all(map(_is_of_a_job, (change.observed.action, change.desired.action))):
        return shown
    found = [
        *schedule_worded(change),
        *(_plainly(item) for item in shown if not item.field.startswith(ELSEWHERE)),
        *_of_steps(change, shown),
        *notices_worded(_request(change.observed.action.args), _request(change.desired.action.args)),
    ]
    once = {(item.field, repr(item.before), repr(item.after)): item for item in found}
    stays = any(note.startswith(STAY) for note in change.consequences.notes)
    return tuple(once.values()) or _of_texts(change) or (() if stays else shown)


def _is_of_a_job(action: Action) -> bool:
    """Whether its argument has the form that a sync gives it: by hand, anything can be written there."""
    steps = _request(action.args).get("steps")
    return (
        action.workflow_type == JOB_WORKFLOW
        and isinstance(steps, list | tuple)
        and all(isinstance(step, Mapping) and step.keys() >= STEP_KEYS for step in steps)
        and all(isinstance(step["params"], Mapping) for step in steps)
    )


def _of_watchdog(change: Update) -> tuple[FieldDiff, ...]:
    left = tuple(item for item in change.diff if not item.field.startswith(("action.args", "action.summary", "times.")))
    return left or (FieldDiff("what it watches", "as before", "as the jobs are now"),)


def _request(args: Iterable[Any]) -> Mapping[str, Any]:
    first = next(iter(args), None)
    return first if isinstance(first, Mapping) else {}


def _plainly(item: FieldDiff) -> FieldDiff:
    name = NAMES.get(item.field, item.field)
    if name == "mode":
        return FieldDiff(name, MODES.get(item.before, item.before), MODES.get(item.after, item.after))
    return FieldDiff(name, _value(name, item.before), _value(name, item.after))


def _value(name: str, value: Any) -> Any:
    """Seconds as a duration, where the field is one."""
    last = name.rpartition(".")[2]
    if last not in DURATIONS or isinstance(value, bool) or not isinstance(value, int | float):
        return value
    if last == "jitter" and not value:
        return None
    return format_duration(timedelta(seconds=value)) if value == int(value) else f"{value}s"


def _of_steps(change: Update, shown: Iterable[FieldDiff]) -> Iterator[FieldDiff]:
    before, after = (_steps(each.action.args) for each in (change.observed, change.desired))
    found: dict[tuple[str, str, str], list[tuple[str, FieldDiff]]] = {}
    for item in shown:
        if not item.field.startswith(f"{ARGUMENT}steps"):
            continue
        if not (match := STEP.fullmatch(item.field)):
            yield FieldDiff("steps" + item.field.removeprefix(f"{ARGUMENT}steps"), item.before, item.after)
            continue
        name = _step_at(match["step"], before, after)
        for diff in _of_step(before.get(name), after.get(name), match["rest"] or "", item):
            found.setdefault((diff.field, repr(diff.before), repr(diff.after)), []).append((name, diff))
    for places in found.values():
        names, diffs = zip(*dict(places).items(), strict=True)
        if set(names) == set(before) == set(after) and (len(names) > 1 or names == (ONLY_STEP,)):
            yield diffs[0]
        else:
            yield from (FieldDiff(_within(name, diff.field), diff.before, diff.after) for name, diff in places)


def _steps(args: Iterable[Any]) -> dict[str, Any]:
    return {step["name"]: step for step in _request(args).get("steps") or ()}


def _step_at(place: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> str:
    """The name of the step at a place of a difference, which is a name or a number in the list."""
    if place in before or place in after:
        return place
    return list(after if int(place) < len(after) else before)[int(place)]


def _within(step: str, field: str) -> str:
    """A field of a step that is one of several."""
    name = field.removeprefix("run.") if field != "run" else ""
    return f"steps.{step}.{name}" if name else f"steps.{step}"


def _of_step(before: Any, after: Any, rest: str, item: FieldDiff) -> Iterator[FieldDiff]:
    """One field of a step as the file has it, where `run.` stands for the step itself."""
    if before is None or after is None or not rest:
        yield FieldDiff("run", _handler(before), _handler(after))
        return
    place, undo = "", rest.startswith("compensate.")
    if undo:
        place, rest, before, after = (
            "compensate.",
            rest.removeprefix("compensate."),
            before["compensate"],
            after["compensate"],
        )
    if before["handler"] != after["handler"]:
        if rest == "handler" or rest.startswith("params"):
            yield FieldDiff(f"run.{place}".rstrip("."), _handler(before), _handler(after))
            return
    elif rest.startswith("params.argv"):
        yield FieldDiff(f"run.{place}command", before["params"]["argv"], after["params"]["argv"])
        return
    elif rest == "params" or rest.startswith("params."):
        yield FieldDiff(f"run.{place}{after['handler']}{rest.removeprefix('params')}", item.before, item.after)
        return
    for field, was, becomes in _retry_fields(item, rest) if rest == "retry" else [(rest, item.before, item.after)]:
        name = {"retry.permanent": "permanent_errors"}.get(field, field)
        yield FieldDiff(place + name, _value(name, was), _value(name, becomes))


def _retry_fields(item: FieldDiff, place: str) -> Iterator[tuple[str, Any, Any]]:
    """Field by field where one side is as usual, which is left out of what a run is given."""
    usual = asdict(RetryRequest())
    before, after = ({**usual, **(side or {})} for side in (item.before, item.after))
    return ((f"{place}.{name}", before[name], after[name]) for name in usual if before[name] != after[name])


def _handler(step: Any) -> Any:
    return None if step is None else {step["handler"]: step["params"].get("argv", step["params"])}


def _of_texts(change: Update) -> tuple[FieldDiff, ...]:
    """A description, labels or other words alone."""
    before, after = change.observed.action, change.desired.action
    old, new = written_of(before.details), written_of(after.details)
    found = [
        FieldDiff(name, was or None, becomes or None)
        for name in ("description", "labels", "contact", "runbook")
        if (was := getattr(old, name)) != (becomes := getattr(new, name))
    ]
    if found or before.details != after.details:
        return tuple(found) or (FieldDiff("words for the Web UI", "as before", "as in the file"),)
    return (FieldDiff("description", before.summary, after.summary),) if before.summary != after.summary else ()
