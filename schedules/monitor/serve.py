"""A monitor from its start to its end: looks at Temporal again and again, and serves what it saw."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from schedules.compile.job import compile_project
from schedules.console.signals import until_told_to_stop
from schedules.console.terminal import say
from schedules.monitor.declared import declared
from schedules.monitor.export import Exporter, Seen
from schedules.monitor.looking import Looking
from schedules.plan.encryption import sealed
from schedules.serve.pages import Page, Pages, metrics_page, serving_pages
from schedules.server.codec import active_key
from schedules.server.pace import Pace

if TYPE_CHECKING:
    from collections.abc import Mapping
    from email.message import Message

    from schedules.errors import TickwrightError
    from schedules.ledger.records import Records
    from schedules.ledger.selection import Selection
    from schedules.model import DesiredSchedule
    from schedules.monitor.watch import Watch
    from schedules.serve.guard import Guard

PATIENCE = 3
"""Intervals without a look that succeeded, after which the monitor does not count as ready."""


async def serve(meant: Selection, address: tuple[str, int], guard: Guard, interval: timedelta, rate: int) -> None:
    """Until SIGINT or SIGTERM. Raises AddressInUseError, and SettingsError for a connection that cannot be used."""
    seen = Seen()
    async with serving_pages(_pages(seen, guard, interval), address, "--address") as url:
        say(f"metrics at {url}/metrics")
        await until_told_to_stop(Looking(meant, interval, Pace(rate), _Monitor(meant, seen)).run())


class _Monitor:
    """Fills `seen`."""

    def __init__(self, meant: Selection, seen: Seen) -> None:
        self._meant = meant
        self._seen = seen
        self._key = self._namespace = ""
        self._hinted = False
        self._desired: tuple[int, Mapping[str, DesiredSchedule]] | None = None

    def connected(self, records: Records) -> None:
        self._seen.calls = records.calls
        self._key, self._namespace = active_key(records.client.data_converter), records.client.namespace

    async def saw(self, watch: Watch, now: datetime, took: float) -> None:
        seen = self._seen
        wanted = {name: each for name, each in self._wanted(now).items() if self._meant.takes(name)}
        seen.figures, seen.declared = watch.figures, list(declared(wanted, watch.jobs, now))
        seen.looked_at, seen.took, seen.unexplained = now, took, watch.unexplained
        seen.namespace = self._namespace
        if not watch.jobs and not self._hinted and (self._meant.glob or self._meant.owner):
            say("no job in the namespace is one of those that are asked for; looking on")
            self._hinted = True
        seen.owners |= dict.fromkeys(self._owners(watch), now)

    def _owners(self, watch: Watch) -> set[str]:
        """The one that is meant, with or without a schedule; else all that there are."""
        return {self._meant.owner} if self._meant.owner else {job.owner for job in watch.jobs.values() if job.owner}

    def failed(self, _error: TickwrightError) -> None:
        self._seen.failed_looks += 1

    def _wanted(self, now: datetime) -> Mapping[str, DesiredSchedule]:
        """What the files compile to, which depends on the year."""
        if self._meant.project is None:
            return {}
        if self._desired is None or self._desired[0] != now.year:
            self._desired = (now.year, sealed(compile_project(self._meant.project, now), self._key))
        return self._desired[1]


def _pages(seen: Seen, guard: Guard, interval: timedelta) -> Pages:
    registry = Exporter.registry(seen)

    async def livez(_: Message) -> Page:
        return Page.of("ok")

    async def readyz(_: Message) -> Page:
        if seen.looked_at and datetime.now(UTC) - seen.looked_at < PATIENCE * interval:
            return Page.of("ok")
        return Page.of("Temporal has not been looked at of late", 503)

    async def metrics(headers: Message) -> Page:
        return metrics_page(registry, guard, headers)

    return {"/livez": livez, "/readyz": readyz, "/metrics": metrics}
