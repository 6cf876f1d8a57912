"""A plan and what became of it, as lines for a person and as one JSON document for a program. Pure."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

from activities.occurrence import stamp
from schedules.console.terminal import Line
from schedules.errors import NOT_TRIED
from schedules.plan.differences import short
from schedules.plan.worth_showing import worth_showing
from schedules.text.shown import printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from datetime import datetime

    from schedules.plan.change import Change, Verb
    from schedules.plan.consequences import Consequences
    from schedules.plan.differences import FieldDiff
    from schedules.plan.plan import Applied, Plan

SIGNS: dict[Verb, str] = {"create": "+", "update": "~", "delete": "-"}
VERBS: tuple[Verb, ...] = ("create", "update", "delete")


def plan_lines(plan: Plan) -> Iterator[Line]:
    """A line a change; under it a line for each field, for the next times and for each consequence; the counts last."""
    for change in plan.changes:
        for line in _change_lines(change):
            yield replace(line, text=printable(line.text))
    yield Line(counts(plan))


def result_text(plan: Plan, results: Iterable[Applied], *, interrupted: bool) -> str:
    """What was done, with each failure in full; changes that were not tried are counted."""
    results = list(results)
    failed = [r for r in results if r.result == "failed"]
    told = [f"failed: {r.change.verb} {r.change.job}: {r.error}" for r in failed if r.error != NOT_TRIED]
    if not_tried := len(failed) - len(told):
        told.append(f"failed: {not_tried} more changes {NOT_TRIED}; run the sync again when the server is back")
    applied = sum(r.result == "applied" for r in results)
    left = sum(r.result == "planned" for r in results)
    summary = f"{plan.owner}: {applied} applied, {len(failed)} failed, {_unchanged(plan, results)} unchanged"
    if interrupted:
        summary = f"interrupted; {summary}, {left} not begun; run the sync again to finish"
    return "\n".join([*map(printable, told), summary])


def document(
    plan: Plan,
    results: Sequence[Applied],
    *,
    interrupted: bool = False,
    warnings: Sequence[str] = (),
    refused: str = "",
) -> dict[str, Any]:
    """The JSON document of `sync --output json`; times are RFC 3339 in UTC. `refused` says why nothing of it was done."""
    return {
        "owner": plan.owner,
        "changes": [_change_json(item) for item in results if item.result != "unchanged"],
        "unchanged": _unchanged(plan, results),
        "interrupted": interrupted,
        "warnings": list(warnings),
        "error": refused or None,
    }


def counts(plan: Plan) -> str:
    """How many changes of each kind, on one line."""
    return f"{plan.owner}: {', '.join(f'{plan.count(verb)} to {verb}' for verb in VERBS)}, {plan.unchanged} unchanged"


def zone_of(change: Change) -> ZoneInfo:
    """The zone in which the change's times are shown."""
    schedule = change.desired or change.observed
    return ZoneInfo(schedule.times.timezone if schedule else "UTC")


def local_times(times: Sequence[datetime], zone: ZoneInfo) -> str:
    """Times as a person of that zone reads them."""
    return ", ".join(f"{at.astimezone(zone):%a %Y-%m-%d %H:%M:%S %Z}" for at in times) or "never"


def _unchanged(plan: Plan, results: Iterable[Applied]) -> int:
    """A change that was not needed in the end is none, if its job is still wanted."""
    return plan.unchanged + sum(item.result == "unchanged" and item.change.desired is not None for item in results)


def _change_lines(change: Change) -> Iterator[Line]:
    if change.conflict:
        yield Line(f"! {change.verb} {change.job}: {change.conflict}", "warning")
    else:
        yield Line(f"{SIGNS[change.verb]} {change.verb} {change.job}", change.verb)
    for diff in worth_showing(change):
        yield Line(f"    {_diff_text(diff)}", "detail")
    yield from _times_lines(change.consequences, zone_of(change))
    for note in change.consequences.notes:
        yield Line(f"    {note}", "warning")


def _times_lines(follows: Consequences, zone: ZoneInfo) -> Iterator[Line]:
    if follows.before == follows.after:
        return
    if follows.before:
        yield Line(f"    next runs before: {local_times(follows.before, zone)}", "detail")
    if follows.after:
        yield Line(f"    next runs{' after' if follows.before else ''}: {local_times(follows.after, zone)}", "detail")


def _diff_text(diff: FieldDiff) -> str:
    return f"{diff.field}: {short(diff.before)} → {short(diff.after)}"


def _change_json(item: Applied) -> dict[str, Any]:
    change, follows = item.change, item.change.consequences
    return {
        "job": change.job,
        "action": change.verb,
        "result": item.result,
        "error": item.error or change.conflict or None,
        "diff": [{"field": diff.field, "before": diff.before, "after": diff.after} for diff in change.diff],
        "next_before": [stamp(at) for at in follows.before],
        "next_after": [stamp(at) for at in follows.after],
        "consequences": list(follows.notes),
    }
