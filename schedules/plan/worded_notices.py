"""What a change does to who is told, in the words of the file. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import timedelta
from typing import Any

from schedules.plan.differences import FieldDiff
from schedules.text.duration import format_duration

PEOPLE = ("on_failure", "on_recovery")
WORDS = {
    "after": "on_failure.after",
    "remind_every": "on_failure.remind_every",
    "pause_after": "pause_after.failures",
    "retry_every": "pause_after.retry_every",
    "contact": "contact",
    "runbook": "runbook",
    "ping": "ping",
}
USUAL: dict[str, Any] = {"after": 1}
DURATIONS = frozenset({"remind_every", "retry_every"})


def notices_worded(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[FieldDiff]:
    """From the requests of a job: its channels, what they are, and when they are told."""
    old, new = before.get("alerts") or {}, after.get("alerts") or {}
    for name in PEOPLE:
        goes, comes = _channels(old.get(name)), _channels(new.get(name))
        if list(goes) != list(comes):
            yield FieldDiff(name, list(goes) or None, list(comes) or None)
        for channel in goes.keys() & comes.keys():
            yield from _targets(f"channels.{channel}", goes[channel], comes[channel])
    for name, word in WORDS.items():
        was, becomes = (_value(name, each.get(name, USUAL.get(name))) for each in (old, new))
        if was != becomes:
            yield FieldDiff(word, was, becomes)


def _value(name: str, value: Any) -> Any:
    if name in DURATIONS and isinstance(value, int | float):
        return format_duration(timedelta(seconds=value))
    return value or None


def _channels(targets: Iterable[Mapping[str, Any]] | None) -> dict[str, list[Mapping[str, Any]]]:
    found: dict[str, list[Mapping[str, Any]]] = {}
    for target in targets or ():
        found.setdefault(target["channel"], []).append(target)
    return found


def _targets(channel: str, before: list[Mapping[str, Any]], after: list[Mapping[str, Any]]) -> Iterator[FieldDiff]:
    for name, word in (("url", "webhook.url"), ("headers", "webhook.headers"), ("apprise", "apprise")):
        was, becomes = ([target[name] for target in side if target.get(name)] for side in (before, after))
        if was != becomes:
            yield FieldDiff(f"{channel}.{word}", _single(was), _single(becomes))


def _single(values: list[Any]) -> Any:
    return values[0] if len(values) == 1 else values or None
