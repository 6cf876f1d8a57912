"""What became of a plan, for a person, and a plan as one JSON document for a program. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

from activities.occurrence import stamp
from schedules.errors import NOT_TRIED
from schedules.plan.worded import worded
from schedules.text.shown import printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    from schedules.plan.change import Change, Verb
    from schedules.plan.differences import FieldDiff
    from schedules.plan.plan import Applied, Plan

SIGNS: dict[Verb, str] = {"create": "+", "update": "~", "delete": "-"}
NAMES_SHOWN = 5
VERBS: tuple[Verb, ...] = ("create", "update", "delete")


def result_text(plan: Plan, results: Iterable[Applied], *, interrupted: bool) -> str:
    """What was done, with each failure in full; changes that were not tried are counted."""
    results = list(results)
    failed = [r for r in results if r.result == "failed"]
    told = _failures([r for r in failed if r.error != NOT_TRIED])
    if not_tried := sum(r.error == NOT_TRIED for r in failed):
        told.append(f"failed: {not_tried} more changes {NOT_TRIED}; run the sync again when the server is back")
    applied = sum(r.result == "applied" for r in results)
    left = sum(r.result == "planned" for r in results)
    summary = f"{plan.owner}: {applied} applied, {len(failed)} failed, {_unchanged(plan, results)} unchanged"
    if interrupted:
        summary = f"interrupted; {summary}, {left} not begun; run the sync again to finish"
    return "\n".join([*map(printable, told), summary])


def _failures(failed: Iterable[Applied]) -> list[str]:
    """Each failure once, with the jobs that it is of."""
    jobs: dict[tuple[str, str], list[str]] = {}
    for item in failed:
        jobs.setdefault((item.change.verb, item.error), []).append(item.change.job)
    return [f"failed: {verb} {names(found, 'jobs')}: {error}" for (verb, error), found in jobs.items()]


def names(jobs: Sequence[str], what: str) -> str:
    """One name, or how many there are with the first of them."""
    if len(jobs) == 1:
        return jobs[0]
    more = f" and {len(jobs) - NAMES_SHOWN} more" if len(jobs) > NAMES_SHOWN else ""
    return f"{len(jobs)} {what} ({', '.join(jobs[:NAMES_SHOWN])}{more})"


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
    numbers = [*(f"{plan.count(verb)} to {verb}" for verb in VERBS), f"{plan.unchanged} unchanged"]
    return f"{plan.owner}: {', '.join([*numbers, f'{plan.refused} refused'] if plan.refused else numbers)}"


def zone_of(change: Change) -> ZoneInfo:
    """The zone in which the change's times are shown."""
    schedule = change.desired or change.observed
    return ZoneInfo(schedule.times.timezone if schedule else "UTC")


def local_times(times: Sequence[datetime], zone: ZoneInfo) -> str:
    """Times as a person of that zone reads them, what each shares with the one before it left out: `Mon 2027-03-01 08:00 EST, Tue 03-02 08:00`."""
    told, before = [], None
    seconds = "%H:%M:%S" if any(at.second for at in times) else "%H:%M"
    for at in (each.astimezone(zone) for each in times):
        same = before.year == at.year if before else False
        day = "" if before and before.date() == at.date() else f"{at:%a %m-%d} " if same else f"{at:%a %Y-%m-%d} "
        name = "" if before and before.tzname() == at.tzname() else f"{at: %Z}"
        told.append(f"{day}{at.strftime(seconds)}{name}")
        before = at
    return ", ".join(told) or "never"


def _unchanged(plan: Plan, results: Iterable[Applied]) -> int:
    """A change that was not needed in the end is none, if its job is still wanted."""
    return plan.unchanged + sum(item.result == "unchanged" and item.change.desired is not None for item in results)


def _change_json(item: Applied) -> dict[str, Any]:
    change, follows = item.change, item.change.consequences
    return {
        "job": change.job,
        "action": change.verb,
        "result": item.result,
        "error": item.error or change.conflict or None,
        "spec": _diff_json(worded(change)),
        "diff": _diff_json(change.diff),
        "next_before": [stamp(at) for at in follows.before],
        "next_after": [stamp(at) for at in follows.after],
        "consequences": list(follows.notes),
    }


def _diff_json(diff: Iterable[FieldDiff]) -> list[dict[str, Any]]:
    return [{"field": each.field, "before": each.before, "after": each.after} for each in diff]
