"""Random lives of a project on a real server: the same claims as on the twin, fewer of them."""

from __future__ import annotations

import asyncio
import random
from dataclasses import replace
from typing import Any

import pytest
from temporalio.client import Client

from activities.note import SIGNATURE
from schedules.model import Calendar, DesiredSchedule, Interval, Policies, Range, Times
from schedules.plan.differences import differences
from schedules.plan.plan import Applied
from schedules.server.gateway import TemporalGateway
from schedules.sync.audit import Audit
from schedules.sync.reconcile import apply_plan, plan_sync
from tests.contract.world import ServerWorld
from tests.factories import NOW, desired

AUDIT = Audit("ann@host", "1a2b3c4")
HOURS = tuple(Calendar(hour=(Range(hour, hour),)) for hour in range(12))
PARTS: list[dict[str, Any]] = [
    {},
    {"times": Times("Europe/Berlin", HOURS[9:10])},
    {"times": Times("UTC", HOURS)},
    {"times": Times("UTC", (), (Interval(300, 30),), jitter=5)},
    {"policies": Policies("allow_all", 60)},
]


class Life:
    """A project with a few jobs, and what an operator set on them by hand."""

    def __init__(self, client: Client, name: str, seed: int) -> None:
        self.world, self.owner = ServerWorld(client), f"{name}/p"
        self.names = [f"{name}-{letter}" for letter in "abcd"]
        self.chance = random.Random(seed)
        self.specs = {each: self.of(each) for each in self.names}
        self.notes: dict[str, str] = {}

    def of(self, name: str) -> DesiredSchedule:
        return replace(desired(name, owner=self.owner), **self.chance.choice(PARTS))

    async def step(self) -> None:
        name = self.chance.choice(self.names)
        there = await self.world.schedules.describe(name) is not None
        match self.chance.choice(["write", "write", "drop", "pause", "edit", "delete"]):
            case "write":
                self.specs[name] = self.of(name)
            case "drop":
                self.specs.pop(name, None)
            case "pause" if there:
                self.notes[name] = f"ask Ann {self.chance.random()}"
                await self.world.pause(name, self.notes[name])
            case "edit" if there:
                await self.world.edit(name, PARTS[1]["times"])
            case "delete" if there:
                await self.world.schedules.delete(name)
                self.notes.pop(name, None)

    async def sync(self, specs: dict[str, DesiredSchedule], *, deep: bool) -> list[Applied]:
        gateway = TemporalGateway(self.world.client)
        plan = await plan_sync(gateway, self.owner, specs, NOW, deep=deep)
        return await apply_plan(plan, gateway, asyncio.Event(), replans=3)

    async def syncs(self) -> None:
        """One to three at once, some of them ended in the middle."""
        tasks = [
            asyncio.ensure_future(self.sync(dict(list(self.specs.items())[given:]), deep=self.chance.random() < 0.5))
            for given in range(self.chance.randrange(1, 4))
        ]
        if self.chance.random() < 0.4:
            await asyncio.sleep(self.chance.random() * 0.2)
            for task in tasks:
                task.cancel()
        for ended in await asyncio.gather(*tasks, return_exceptions=True):
            assert isinstance(ended, list | asyncio.CancelledError), ended
        for name in [name for name in self.notes if await self.world.schedules.describe(name) is None]:
            del self.notes[name]


@pytest.mark.parametrize("seed", range(6))
async def test_one_quiet_sync_leads_to_what_the_specs_say(client: Client, name: str, seed: int) -> None:
    life = Life(client, name, seed)
    await life.sync(life.specs, deep=True)
    for _ in range(4):
        for _ in range(3):
            await life.step()
        await life.syncs()
    results = await life.sync(life.specs, deep=True)
    assert all(item.result != "failed" for item in results), results
    for each in life.names:
        observed, wanted = await life.world.schedules.describe(each), life.specs.get(each)
        assert (observed is None) == (wanted is None)
        if observed is None or wanted is None:
            continue
        assert differences(wanted, observed) == ()
        if each in life.notes and not observed.state.note.startswith(SIGNATURE):
            assert (observed.state.paused, observed.state.note) == (True, life.notes[each])
    versions = [await life.world.schedules.describe(each) for each in life.names]
    assert await life.sync(life.specs, deep=True) == []
    assert [await life.world.schedules.describe(each) for each in life.names] == versions
