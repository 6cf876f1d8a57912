"""Faults of channels, and of keys that name them. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from activities.steps.template import check as check_templates
from activities.steps.template import parts, secrets_used, strings
from schedules.text.nearest import suggestion
from schedules.text.shown import shown

if TYPE_CHECKING:
    from schedules.spec.job import JobSpec
    from schedules.spec.layers import Path
    from schedules.spec.notices import ChannelSpec

Fault = tuple["Path", str]
TOLD = ("on_failure", "on_recovery", "on_missed", "pause_after", "ping")
"""Keys that look at how runs end, or whether they begin."""


def channel_faults(channels: Mapping[str, ChannelSpec]) -> Iterator[Fault]:
    """Every fault as the path below `channels` and a message."""
    for name, channel in channels.items():
        given = channel.model_dump(include={"apprise", "webhook"}, exclude_defaults=True)
        yield from (((name, *path), message) for path, message in _filled_in(given))


def alert_faults(job: JobSpec, channels: Iterable[str]) -> Iterator[Fault]:
    """Every fault as the path within the job and a message."""
    known = list(channels)
    for key, names in _named(job):
        for path, name in names:
            if name not in known:
                message = f"{shown(name)} is not a channel of this file; {suggestion(name, known, 'channels')}"
                yield (key, *path), message
    for key in ("on_failure", "on_missed"):
        given = getattr(job, key)
        if given is not None and not given.channels and given.model_fields_set - {"channels"}:
            yield (key,), "names no channel, so nobody would get a notice; write `channels: [NAME]`"
    if job.pause_after and job.paused is False:
        message = "every sync would end a pause of `pause_after`; remove `paused: false`"
        yield ("paused",), message
    if job.direct:
        message = "a workflow that the schedule starts itself (direct) is not watched; remove this, or `direct`"
        yield from (((key,), message) for key in TOLD if getattr(job, key))
    if job.ping:
        yield from _filled_in({"ping": job.ping})


def _named(job: JobSpec) -> Iterator[tuple[str, list[tuple[Path, str]]]]:
    for key in ("on_failure", "on_missed"):
        if given := getattr(job, key):
            yield key, [(("channels", index), name) for index, name in enumerate(given.channels)]
    yield "on_recovery", [((index,), name) for index, name in enumerate(job.on_recovery or ())]


def _filled_in(value: Any) -> Iterator[Fault]:
    """Only secrets are filled in here: a notice has a text of its own."""
    known = {path for path, _ in secrets_used(value)}
    for path, text in strings(value):
        if any(part.kind == "field" for part in parts(text)):
            yield (
                path,
                f"{shown(text)} has a template, but only `${{secret:NAME}}` is filled in here; double its braces",
            )
    for problem in check_templates(value):
        if problem.path in known or problem.path not in {path for path, _ in strings(value)}:
            yield problem.path, problem.message
