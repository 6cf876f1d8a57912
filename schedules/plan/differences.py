"""What differs between the schedule that a spec compiles to and the one that the server has, field by field. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from activities.contract import JOB_WORKFLOW, OWNER_ATTRIBUTE
from schedules.cron.notation.literal import literal_text
from schedules.model import Calendar
from schedules.plan.fingerprint import fingerprint

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from datetime import datetime

    from schedules.model import DesiredSchedule, ObservedSchedule
    from schedules.plan.plan import Change

FINGERPRINT = "fingerprint"
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
ENCRYPTION = "encryption"
ENCRYPTED = ("action.args", "action.memo", "action.summary", "action.details")
"""What a key hides: nothing is known of its values without it."""


@dataclass(frozen=True, slots=True)
class FieldDiff:
    """One field that differs: its dotted name, and its value on the server and in the spec as JSON values."""

    field: str
    before: Any
    after: Any


def differences(desired: DesiredSchedule, observed: ObservedSchedule) -> tuple[FieldDiff, ...]:
    """Every field that a sync would write. What an operator sets by hand is compared only where the spec declares it.

    A schedule that differs in nothing but the mark of its last sync (an older version's, or none) differs in that.
    """
    found: list[FieldDiff] = []
    if desired.owner != observed.owner:
        found.append(FieldDiff("owner", observed.owner, desired.owner))
    for name in ("times", "action", "policies"):
        found += _compare(name, getattr(observed, name), getattr(desired, name))
    if observed.unreadable:
        found = [item for item in found if not item.field.startswith(ENCRYPTED)]
        found.append(FieldDiff("payloads", "cannot be decrypted", "written anew"))
    if desired.paused is not None and desired.paused != observed.state.paused:
        found.append(FieldDiff("paused", observed.state.paused, desired.paused))
    said = (item for item in observed.other if not (observed.unreadable and item.field.startswith(ENCRYPTED)))
    found += [FieldDiff(item.field, item.before, item.after) for item in said]
    if desired.encryption != observed.encryption:
        found.append(FieldDiff(ENCRYPTION, _key(observed.encryption), _key(desired.encryption)))
    if not found and (mark := fingerprint(desired)) != observed.fingerprint:
        found.append(FieldDiff(FINGERPRINT, observed.fingerprint, mark))
    return tuple(found)


def telling(change: Change) -> tuple[FieldDiff, ...]:
    """Those that a person should read: not what only repeats another, such as the times that each run carries with it."""
    if change.desired is None or change.desired.action.workflow_type != JOB_WORKFLOW:
        return change.diff
    fields = {item.field for item in change.diff}
    repeated = {prefix for prefix, said in REPEATED.items() if any(field.startswith(said) for field in fields)}
    left = [item for item in change.diff if not item.field.startswith(tuple(repeated))]
    return _folded(change, [item for item in left if item.field not in IN_WORDS] or left)


def _folded(change: Change, found: Sequence[FieldDiff]) -> tuple[FieldDiff, ...]:
    """Of calendars, intervals and exclusions, of which clock changes need many, what goes and what comes, where that is much."""
    shown: dict[str, FieldDiff] = {}
    for item in found:
        whole = item.field.partition("[")[0]
        few = sum(other.field.startswith(f"{whole}[") for other in found) in range(1, MOST_ITEMS + 1)
        if whole in LISTS and not few and change.observed and change.desired:
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


def plain(value: Any) -> Any:
    """The value in JSON's terms; a calendar as its seven fields and its comment."""
    match value:
        case Calendar():
            return literal_text(value)
        case datetime():
            return value.isoformat()
        case list() | tuple():
            return [plain(item) for item in value]
        case Mapping():
            return {key: plain(item) for key, item in value.items()}
        case _ if is_dataclass(value):
            return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
        case _:
            return value


def _key(key_id: str) -> str:
    return f"key {key_id}" if key_id else "none"


def _compare(path: str, before: Any, after: Any) -> Iterator[FieldDiff]:
    """Values are told apart as JSON tells them: to Python 1, 1.0 and true are equal."""
    if is_dataclass(before) and type(before) is type(after) and not isinstance(before, Calendar):
        for field in fields(before):
            yield from _compare(f"{path}.{field.name}", getattr(before, field.name), getattr(after, field.name))
    elif isinstance(before, dict) and isinstance(after, dict):
        for key in sorted(before.keys() | after.keys(), key=str):
            yield from _compare(f"{path}.{key}", before.get(key), after.get(key))
    elif (old := _by_name(before)) and (new := _by_name(after)) and list(old) != list(new):
        yield from _compare_named(path, old, new)
    elif isinstance(before, list | tuple) and isinstance(after, list | tuple) and len(before) == len(after):
        for index, (left, right) in enumerate(zip(before, after, strict=True)):
            yield from _compare(f"{path}[{index}]", left, right)
    elif before != after or type(before) is not type(after):
        yield FieldDiff(path, plain(before), plain(after))


def _compare_named(path: str, before: dict[str, Any], after: dict[str, Any]) -> Iterator[FieldDiff]:
    """Steps that came, went or changed places; each of those that stayed is compared with itself."""
    for name in (*before, *(name for name in after if name not in before)):
        yield from _compare(f"{path}[{name}]", before.get(name), after.get(name))
    stayed = [name for name in before if name in after]
    if stayed != [name for name in after if name in before]:
        yield FieldDiff(f"{path} in order", list(before), list(after))


def _by_name(items: Any) -> dict[str, Any]:
    """The mappings of a list by their names; empty where not each of them has one of its own."""
    if not isinstance(items, list | tuple) or not all(isinstance(each, dict) and "name" in each for each in items):
        return {}
    found = {str(each["name"]): each for each in items}
    return found if len(found) == len(items) else {}


LONGEST = 160


def short(value: Any) -> str:
    """A JSON value on one line, cut after 160 characters."""
    text = "(none)" if value in (None, []) else value if isinstance(value, str) else json.dumps(value)
    text = text.replace("\n", "⏎")
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
