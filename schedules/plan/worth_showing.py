"""The differences to show: without those that repeat another. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from activities.contract import JOB_WORKFLOW, OWNER_ATTRIBUTE
from schedules.plan.change import Update
from schedules.plan.differences import FieldDiff, plain

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from schedules.plan.change import Change

REPEATED = {
    "action.args[0].times": "times.",
    "action.args[0].catchup.overlap": "policies.overlap",
    "action.args[0].catchup.window": "policies.catchup_window",
    "action.args[0].catchup.jitter": "times.jitter",
    "action.args[0].catchup.late_after": "times.",
    "action.args[0].catchup.end_at": "times.",
    "action.args[0].project": "owner",
    "action.args[0].environment": "owner",
    f"action.search_attributes.{OWNER_ATTRIBUTE}": "owner",
}
"""What a job's own workflow is given beside what the schedule has itself."""
LISTS = frozenset({"times.calendars", "times.intervals", "times.exclusions"})
MOST_ITEMS = 3
IN_WORDS = frozenset({"action.summary", "action.details"})
"""The whole job, for the Web UI."""


def worth_showing(change: Change) -> tuple[FieldDiff, ...]:
    """The differences to show: without those that repeat another (a run's arguments carry the job's times a second time)."""
    if not isinstance(change, Update) or change.desired.action.workflow_type != JOB_WORKFLOW:
        return change.diff
    fields = {item.field for item in change.diff}
    repeated = {prefix for prefix, said in REPEATED.items() if any(field.startswith(said) for field in fields)}
    left = [item for item in change.diff if not item.field.startswith(tuple(repeated))]
    return _folded(change, [item for item in left if item.field not in IN_WORDS] or left)


def _folded(change: Update, found: Sequence[FieldDiff]) -> tuple[FieldDiff, ...]:
    """Of calendars, intervals and exclusions, of which clock changes need many, what goes and what comes, where that is much."""
    shown: dict[str, FieldDiff] = {}
    for item in found:
        whole = item.field.partition("[")[0]
        few = sum(other.field.startswith(f"{whole}[") for other in found) in range(1, MOST_ITEMS + 1)
        if whole in LISTS and not few:
            name = whole.removeprefix("times.")
            before, after = getattr(change.observed.times, name), getattr(change.desired.times, name)
            goes, comes = _without(before, after), _without(after, before)
            shown[whole] = FieldDiff(whole, plain(goes), plain(comes)) if goes or comes else item
        else:
            shown[item.field] = item
    return tuple(shown.values())


def _without(some: Iterable[Any], others: Iterable[Any]) -> list[Any]:
    known = set(others)
    return [item for item in some if item not in known]
