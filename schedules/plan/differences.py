"""Differences between the schedule that a spec compiles to and the one that the server has, field by field. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from schedules.cron.notation.literal import literal_text
from schedules.model import Calendar
from schedules.plan.fingerprint import fingerprint

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from schedules.model import DesiredSchedule, ObservedSchedule

FINGERPRINT = "fingerprint"
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
        found += compare(name, getattr(observed, name), getattr(desired, name))
    if observed.unreadable:
        found = [item for item in found if not item.field.startswith(ENCRYPTED)]
        found.append(FieldDiff("payloads", "cannot be decrypted", "written again"))
    if desired.paused is not None and desired.paused != observed.state.paused:
        found.append(FieldDiff("paused", observed.state.paused, desired.paused))
    said = (item for item in observed.other if not (observed.unreadable and item.field.startswith(ENCRYPTED)))
    found += [FieldDiff(item.field, item.before, item.after) for item in said]
    if desired.encryption != observed.encryption:
        found.append(FieldDiff(ENCRYPTION, _key(observed.encryption), _key(desired.encryption)))
    if not found and (mark := fingerprint(desired)) != observed.fingerprint:
        found.append(FieldDiff(FINGERPRINT, observed.fingerprint, mark))
    return tuple(found)


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


def compare(path: str, before: Any, after: Any) -> Iterator[FieldDiff]:
    """The fields below `path` that differ. Values are told apart as JSON tells them: to Python 1, 1.0 and true are equal."""
    if is_dataclass(before) and type(before) is type(after) and not isinstance(before, Calendar):
        for field in fields(before):
            yield from compare(f"{path}.{field.name}", getattr(before, field.name), getattr(after, field.name))
    elif isinstance(before, dict) and isinstance(after, dict):
        for key in sorted(before.keys() | after.keys(), key=str):
            yield from compare(f"{path}.{key}", before.get(key), after.get(key))
    elif (old := _by_name(before)) and (new := _by_name(after)) and list(old) != list(new):
        yield from _compare_named(path, old, new)
    elif isinstance(before, list | tuple) and isinstance(after, list | tuple) and len(before) == len(after):
        for index, (left, right) in enumerate(zip(before, after, strict=True)):
            yield from compare(f"{path}[{index}]", left, right)
    elif before != after or type(before) is not type(after):
        yield FieldDiff(path, plain(before), plain(after))


def _compare_named(path: str, before: dict[str, Any], after: dict[str, Any]) -> Iterator[FieldDiff]:
    """Steps that came, went or changed places; each of those that stayed is compared with itself."""
    for name in (*before, *(name for name in after if name not in before)):
        yield from compare(f"{path}[{name}]", before.get(name), after.get(name))
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
