"""What differs between the schedule that a spec compiles to and the one that the server has, field by field. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from schedules.fingerprint import fingerprint
from schedules.literal import literal_text
from schedules.model import Calendar

if TYPE_CHECKING:
    from schedules.model import DesiredSchedule, ObservedSchedule

FINGERPRINT = "fingerprint"


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
    if desired.paused is not None and desired.paused != observed.state.paused:
        found.append(FieldDiff("paused", observed.state.paused, desired.paused))
    found += [FieldDiff(name, "set on the server", "not in any spec") for name in observed.other]
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


def _compare(path: str, before: Any, after: Any) -> Iterator[FieldDiff]:
    """Values are told apart as JSON tells them: to Python 1, 1.0 and true are equal."""
    if is_dataclass(before) and type(before) is type(after) and not isinstance(before, Calendar):
        for field in fields(before):
            yield from _compare(f"{path}.{field.name}", getattr(before, field.name), getattr(after, field.name))
    elif isinstance(before, dict) and isinstance(after, dict):
        for key in sorted(before.keys() | after.keys(), key=str):
            yield from _compare(f"{path}.{key}", before.get(key), after.get(key))
    elif isinstance(before, list | tuple) and isinstance(after, list | tuple) and len(before) == len(after):
        for index, (left, right) in enumerate(zip(before, after, strict=True)):
            yield from _compare(f"{path}[{index}]", left, right)
    elif before != after or type(before) is not type(after):
        yield FieldDiff(path, plain(before), plain(after))
