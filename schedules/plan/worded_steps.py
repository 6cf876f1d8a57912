"""What a change does to a job's steps, in the words of the file. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from activities.contract import RetryRequest
from schedules.plan.differences import FieldDiff, compare
from schedules.plan.words import in_word, in_words
from schedules.plan.written_limits import RETRY, usual_limits
from schedules.spec.steps import UNDO_RETRY

if TYPE_CHECKING:
    from schedules.spec.describe import Written

Step = Mapping[str, Any]
ONLY_STEP = "run"
STEPS = " steps"
"""What the details of a job with `steps` have behind their number."""
LIMITS = ("timeout", "heartbeat_timeout", *RETRY.values())
"""What a step has of its own or of its job."""
INHERITED = ("timeout", "heartbeat_timeout", "task_queue")
"""What a compensation has of its own or of its step."""
UNDO_RETRIES: dict[str, Any] = {
    "retry.max_attempts": UNDO_RETRY.max_attempts,
    "retry.backoff": UNDO_RETRY.backoff,
    "retry.initial": UNDO_RETRY.initial.total_seconds(),
    "retry.max": UNDO_RETRY.max.total_seconds(),
    "retry.permanent_errors": [],
}


@dataclass(frozen=True, slots=True)
class Side:
    """The steps before or after, by name; `job` are the job's own limits, as far as they are known."""

    steps: Mapping[str, Step]
    single: bool
    job: Mapping[str, Any]

    def fields(self, name: str) -> dict[str, Any]:
        """The step by the keys of the file, without its handler and what it needs."""
        step = self.steps[name]
        return {
            **_limits(step),
            "when": step.get("when", "on_success"),
            "task_queue": step.get("task_queue") or None,
            "start_timeout": step.get("start_timeout"),
        }

    def needs(self, name: str) -> list[str] | None:
        """The names in `needs`; None where the file need not say them, for they are all that stand before it or the one before."""
        said, above = self.steps[name].get("needs"), self._above(name)
        derived = self.steps[name].get("when", "on_success") != "on_success" and said == above
        return None if said is None or derived else list(said)

    def effective_needs(self, name: str) -> list[str]:
        """What it waits for."""
        said = self.steps[name].get("needs")
        return self._above(name)[-1:] if said is None else list(said)

    def whole(self, name: str) -> dict[str, Any]:
        """A step that is new, or goes, with all that is particular about it."""
        step, found = self.steps[name], self.fields(name)
        if step.get("needs"):
            found["needs"] = self.needs(name)
        usual = {**dict.fromkeys(found), "when": "on_success", **self.job}
        particular = {field: in_word(field, value) for field, value in found.items() if value != usual[field]}
        undo = {"compensate": _whole_undo(step)} if step.get("compensate") else {}
        return {**_handler(step), **_nested(particular), **undo}

    def _above(self, name: str) -> list[str]:
        names = list(self.steps)
        return names[: names.index(name)]


def steps_worded(
    before: Sequence[Step], after: Sequence[Step], old_words: Written, new_words: Written
) -> Iterator[FieldDiff]:
    """Of the requests' steps; the words are those of the details."""
    stayed = {step["name"] for step in before} & {step["name"] for step in after}
    old, new = _side(before, old_words, stayed), _side(after, new_words, stayed)
    for field in LIMITS:
        was, becomes = old.job.get(field), new.job.get(field)
        if was != becomes and field in old.job and field in new.job:
            yield in_words(field, was, becomes)
    if old.single != new.single:
        yield from _from_run_to_steps(old, new)
        return
    for name in (*old.steps, *(name for name in new.steps if name not in old.steps)):
        if name not in stayed:
            goes, comes = (side.whole(name) if name in side.steps else None for side in (old, new))
            yield FieldDiff(f"steps.{name}", goes, comes)
        else:
            place = "" if new.single else f"steps.{name}."
            yield from _of_step(name, old, new, place)
    if (was := [each for each in old.steps if each in stayed]) != [each for each in new.steps if each in stayed]:
        yield FieldDiff("order of steps", list(old.steps), list(new.steps))


def _side(steps: Sequence[Step], words: Written, stayed: set[str]) -> Side:
    by_name = {step["name"]: step for step in steps}
    single = not words.runs.endswith(STEPS) if words.runs else list(by_name) == [ONLY_STEP]
    alike = [_limits(step) for name, step in by_name.items() if name in stayed or not stayed]
    job = {field: alike[0][field] for field in LIMITS if all(each[field] == alike[0][field] for each in alike)}
    return Side(by_name, single, job if single else {**job, **usual_limits(words.limits)})


def _limits(step: Step) -> dict[str, Any]:
    retry = {**asdict(RetryRequest()), **(step.get("retry") or {})}
    return {
        "timeout": step.get("timeout"),
        "heartbeat_timeout": step.get("heartbeat_timeout"),
        **{word: retry[name] for name, word in RETRY.items()},
    }


def _from_run_to_steps(old: Side, new: Side) -> Iterator[FieldDiff]:
    for side in (old, new):
        for name in side.steps:
            field = "run" if side.single else f"steps.{name}"
            whole = _handler(side.steps[name]) if side.single else side.whole(name)
            yield FieldDiff(field, whole, None) if side is old else FieldDiff(field, None, whole)


def _of_step(name: str, old: Side, new: Side, place: str) -> Iterator[FieldDiff]:
    before, after = old.steps[name], new.steps[name]
    yield from _of_handler(before, after, place or "run.")
    was, becomes = old.fields(name), new.fields(name)
    for field, value in was.items():
        of_job = field in old.job and field in new.job and (value, becomes[field]) == (old.job[field], new.job[field])
        if value != becomes[field] and not of_job:
            yield in_words(place + field, value, becomes[field])
    said = (old.needs(name), new.needs(name)) != (None, None)
    if said and sorted(old.effective_needs(name)) != sorted(new.effective_needs(name)):
        yield FieldDiff(f"{place}needs", old.effective_needs(name), new.effective_needs(name))
    yield from _of_undo(before, after, f"{place}compensate")


def _of_handler(before: Step, after: Step, place: str) -> Iterator[FieldDiff]:
    """`place` ends in a dot."""
    if before["handler"] != after["handler"]:
        yield FieldDiff(place.removesuffix("."), _handler(before), _handler(after))
        return
    field = f"{place}{after['handler']}"
    old, new = dict(before["params"]), dict(after["params"])
    if after["handler"] == "command":
        was, becomes = old.pop("argv", None), new.pop("argv", None)
        if was != becomes:
            yield FieldDiff(field, was, becomes)
    yield from compare(field, old, new)


def _of_undo(before: Step, after: Step, place: str) -> Iterator[FieldDiff]:
    was, becomes = before.get("compensate"), after.get("compensate")
    if not (was and becomes):
        if was or becomes:
            yield FieldDiff(place, _whole_undo(before) if was else None, _whole_undo(after) if becomes else None)
        return
    yield from _of_handler(was, becomes, f"{place}.")
    old, new = ({**_limits(each), "task_queue": each.get("task_queue")} for each in (was, becomes))
    for field, value in old.items():
        inherited = field in INHERITED and value == before.get(field) and new[field] == after.get(field)
        if value != new[field] and not inherited:
            yield in_words(f"{place}.{field}", value, new[field])


def _whole_undo(step: Step) -> dict[str, Any]:
    """The compensation of a step with all that is particular about it."""
    undo = step["compensate"]
    usual = {**{name: step.get(name) for name in INHERITED}, **UNDO_RETRIES}
    said = {**_limits(undo), "task_queue": undo.get("task_queue")}
    return {
        **_handler(undo),
        **_nested({name: in_word(name, value) for name, value in said.items() if value != usual[name]}),
    }


def _handler(step: Step) -> dict[str, Any]:
    params = step["params"]
    short = step["handler"] == "command" and params.keys() == {"argv"}
    return {step["handler"]: params["argv"] if short else params}


def _nested(fields: Mapping[str, Any]) -> dict[str, Any]:
    """`{"retry.max": …}` as the file has it."""
    found: dict[str, Any] = {}
    for field, value in fields.items():
        whole, _, part = field.rpartition(".")
        if whole:
            found.setdefault(whole, {})[part] = value
        else:
            found[part] = value
    return found
