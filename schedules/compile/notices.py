"""From a job's words for being told to what its runs carry. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from activities.notices.contract import AlertRequest, Target

if TYPE_CHECKING:
    from datetime import timedelta

    from schedules.spec.job import JobSpec
    from schedules.spec.notices import ChannelSpec


def compile_alerts(job: JobSpec, channels: Mapping[str, ChannelSpec]) -> AlertRequest | None:
    """What follows from how the job's runs end; None where nothing does."""
    failure, pause = job.on_failure, job.pause_after
    if not ((failure and failure.channels) or job.on_recovery or pause or job.ping):
        return None
    return AlertRequest(
        on_failure=targets(failure.channels if failure else (), channels),
        on_recovery=None if job.on_recovery is None else targets(job.on_recovery, channels),
        after=failure.after if failure else 1,
        remind_every=_seconds(failure.remind_every) if failure else None,
        pause_after=pause.failures if pause else None,
        retry_every=_seconds(pause.retry_every) if pause else None,
        contact=job.contact,
        runbook=job.runbook,
        ping=job.ping,
        carried=job.overlap != "allow_all",
    )


def targets(names: Sequence[str], channels: Mapping[str, ChannelSpec]) -> list[Target]:
    """The addresses of channels, each channel once."""
    return [target for name in dict.fromkeys(names) for target in _of(name, channels[name])]


def _of(name: str, channel: ChannelSpec) -> Iterator[Target]:
    if channel.webhook:
        yield Target(name, url=channel.webhook.url, headers=dict(channel.webhook.headers))
    yield from (Target(name, apprise=address) for address in channel.apprise)


def _seconds(duration: timedelta | None) -> float | None:
    return None if duration is None else duration.total_seconds()
