"""What a change does to who is told, in the words of the file. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from schedules.plan.differences import FieldDiff
from schedules.plan.words import in_words

WORDS = {
    "after": "on_failure.after",
    "remind_every": "on_failure.remind_every",
    "pause_after": "pause_after.failures",
    "retry_every": "pause_after.retry_every",
    "ping": "ping",
}
USUAL: dict[str, Any] = {"after": 1}
AS_FAILURE = "as on_failure"
Channels = Mapping[str, list[Mapping[str, Any]]]


def notices_worded(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[FieldDiff]:
    """From the alerts of a job's requests: its channels, what they are, and when they are told."""
    failure = [channels_of(side.get("on_failure")) for side in (old, new)]
    recovery = [channels_of(side.get("on_recovery")) for side in (old, new)]
    if list(failure[0]) != list(failure[1]):
        yield FieldDiff("on_failure", *(list(each) or None for each in failure))
    recovers = [_recovers(side) for side in (old, new)]
    if recovers[0] != recovers[1] and (
        (old and new) or any(recovery)
    ):  # Without notices the file's empty list is lost.
        yield FieldDiff("on_recovery", *recovers)
    yield from channels_worded({**recovery[0], **failure[0]}, {**recovery[1], **failure[1]})
    for name, word in WORDS.items():
        was, becomes = (each.get(name, USUAL.get(name)) or None for each in (old, new))
        if was != becomes:
            yield in_words(word, was, becomes)


def _recovers(alerts: Mapping[str, Any]) -> Any:
    channels = alerts.get("on_recovery")
    return AS_FAILURE if channels is None else list(channels_of(channels)) or None


def channels_of(targets: Iterable[Mapping[str, Any]] | None) -> Channels:
    """Addresses by the names of their channels."""
    found: dict[str, list[Mapping[str, Any]]] = {}
    for target in targets or ():
        found.setdefault(target["channel"], []).append(target)
    return found


def channels_worded(before: Channels, after: Channels) -> Iterator[FieldDiff]:
    """What is different about channels that are used before and after."""
    for name in after:
        if name in before:
            yield from _targets(f"channels.{name}", list(before[name]), list(after[name]))


def _targets(channel: str, before: list[Mapping[str, Any]], after: list[Mapping[str, Any]]) -> Iterator[FieldDiff]:
    for name, word in (("url", "webhook.url"), ("headers", "webhook.headers"), ("apprise", "apprise")):
        was, becomes = ([target[name] for target in side if target.get(name)] for side in (before, after))
        if was != becomes:
            yield FieldDiff(f"{channel}.{word}", _single(was), _single(becomes))


def _single(values: list[Any]) -> Any:
    return values[0] if len(values) == 1 else values or None
