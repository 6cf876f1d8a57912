"""Schedules of seconds on a real server, and what was done to them."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Self

from schedules.compile.job import compile_job
from schedules.ledger.records import Records
from schedules.server.gateway import TemporalGateway
from schedules.spec.job import JobSpec
from tests.factories import job as job_spec

if TYPE_CHECKING:
    from collections.abc import Callable

    from temporalio.client import Client

    from activities.account.facts import Run
    from schedules.model import DesiredSchedule, Policies

SECOND = timedelta(seconds=1)


def now() -> datetime:
    return datetime.now(UTC)


def shell(text: str) -> dict[str, Any]:
    return {"command": {"argv": [text], "shell": True}}


class Scene:
    """Jobs of one project; their names begin with the scene's, so that tests share a server."""

    def __init__(self, client: Client, name: str) -> None:
        self.client, self.name = client, name
        self.records = Records(client)
        self.gateway = TemporalGateway(client)
        self._added: list[str] = []

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        for schedule_id in self._added:
            await self.gateway.delete(schedule_id)

    def id(self, short: str) -> str:
        return f"{self.name}-{short}"

    def desired(self, short: str, policies: Policies | None = None, **fields: Any) -> DesiredSchedule:
        given = {"schedule": {"every": "2s"}, "timezone": "Europe/Berlin", "task_queue": self.name, **fields}
        job: JobSpec = job_spec(self.id(short), **given)
        desired = compile_job(job, self.name, "test", now())
        return replace(desired, policies=policies) if policies else desired

    async def add(self, short: str, policies: Policies | None = None, note: str = "", **fields: Any) -> None:
        self._added.append(self.id(short))
        assert await self.gateway.create(self.desired(short, policies, **fields), note)

    async def change(self, short: str, **fields: Any) -> None:
        observed = await self.gateway.describe(self.id(short))
        assert observed
        await self.gateway.update(self.desired(short, **fields), observed)

    async def runs(self, short: str) -> list[Run]:
        """Oldest first."""
        at = now()
        job = await self.records.job(self.id(short))
        assert job
        found = await self.records.runs_of(job, at - timedelta(days=2), at + SECOND)
        return sorted(found.runs, key=lambda run: run.scheduled_at)

    async def run(self, short: str, which: Callable[[Run], bool] = lambda _: True) -> Run:
        """The first run of a job for which something holds, once there is one."""
        async with asyncio.timeout(60):
            while True:
                found = next((run for run in await self.runs(short) if which(run)), None)
                if found:
                    return found
                await asyncio.sleep(0.1)

    async def ended(self, short: str) -> Run:
        return await self.run(short, lambda run: run.closed_at is not None)


async def until(at: datetime) -> None:
    """Waits for an instant of the clock that the server goes by."""
    await asyncio.sleep(max(0.0, (at - now()).total_seconds()))
