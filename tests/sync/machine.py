"""Random lives of a project: edits of its specs, operators, other projects, syncs at once, a server that fails now and then.

Whatever happened, one quiet sync leads to exactly what the specs say, with what operators set kept and nothing foreign touched.
"""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from activities.note import SIGNATURE
from schedules.errors import TickwrightError
from schedules.model import Action, Calendar, DesiredSchedule, Interval, Policies, Range, RuntimeState, Times
from schedules.plan.differences import differences
from schedules.plan.plan import Applied
from schedules.server.port import Schedules
from schedules.sync.apply import Applier
from schedules.sync.audit import Audit
from schedules.sync.reconcile import plan_sync
from schedules.testing import Fault, Habits, SchedulesInMemory
from tests.factories import NOW, desired

OWNER, OTHER = "billing/production", "payroll/production"
NAMES = [f"job-{letter}" for letter in "abcd"]
AUDIT = Audit("ann@host", "1a2b3c4")
MANY = tuple(Calendar(hour=(Range(hour, hour),)) for hour in range(12))
STEPS = [{"name": "export"}, {"name": "post", "needs": ["export"], "compensate": {"name": "undo"}}]
PARTS: list[dict[str, Any]] = [
    {},
    {"times": Times("Europe/Berlin", (Calendar(hour=(Range(9, 9),)),))},
    {"times": Times("UTC", MANY)},
    {"times": Times("UTC", MANY[:11])},
    {"times": Times("UTC", (), (Interval(300, 30),), jitter=5)},
    {"policies": Policies("allow_all", 60)},
    {"action": Action("JobWorkflow", "tickwright", ({"job": "x", "n": 1},))},
    {"paused": True},
    {"paused": False},
    {"encryption": "2027-03"},
    {"action": Action("JobWorkflow", "tickwright", ({"job": "x", "catchup": {"policy": "skip"}, "steps": STEPS},))},
    {"action": Action("JobWorkflow", "tickwright", ({"job": "x", "steps": STEPS[::-1]},)), "encryption": "2027-09"},
]
HIDDEN = frozenset({2, 3, 5, 6, 9, 10, 11})
"""Edits by hand that List may not show: later entries, policies, arguments, and the key of these."""
Deed = tuple[str, str, int, str]
names = st.sampled_from(NAMES)
parts = st.sampled_from(range(len(PARTS)))
deeds = st.tuples(
    st.sampled_from(["pause", "limit", "trigger", "edit", "delete", "others make"]),
    names,
    parts,
    st.sampled_from(["", "ask Ann", "closed"]),
)
"""What somebody does by hand, to which schedule, to which of its parts, with which note."""


def of(name: str, part: int, owner: str = OWNER) -> DesiredSchedule:
    return replace(desired(name, owner=owner), **PARTS[part])


async def sync_once(schedules: Schedules, specs: dict[str, DesiredSchedule], *, deep: bool) -> list[Applied]:
    """As `apply_plan`, but it does not wait between two looks."""
    plan = await plan_sync(schedules, OWNER, specs, NOW, deep=deep)
    if missing := await schedules.missing_attributes():
        await schedules.add_attributes(missing)
    return await Applier(plan, schedules, AUDIT, read_back_waits=[0] * 8).apply(asyncio.Event(), lambda _: None)


async def quiet(schedules: Schedules, specs: dict[str, DesiredSchedule], *, deep: bool) -> list[Applied]:
    """A sync in which nothing fails but what others own."""
    results = await sync_once(schedules, specs, deep=deep)
    for item in results:
        assert item.result != "failed" or item.change.conflict, item
    return results


class Life(RuleBasedStateMachine):
    """The twin, the specs of one project, and what is known of operators and of others."""

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.twin = SchedulesInMemory()
        self.specs: dict[str, DesiredSchedule] = {}
        self.notes: dict[tuple[str, int], str] = {}
        self.pauses: dict[tuple[str, int], bool] = {}
        self.runs: Counter[tuple[str, int]] = Counter()
        self.limits: dict[tuple[str, int], int] = {}
        self.foreign: set[tuple[str, int]] = set()
        self.hidden = False
        self.known: frozenset[str] = frozenset()

    @initialize(
        seed=st.integers(0, 2**32),
        list_lag=st.integers(0, 12),
        lag=st.integers(0, 3),
        late=st.integers(0, 2),
        v2=st.booleans(),
    )
    def begin(self, seed: int, list_lag: int, lag: int, late: int, v2: bool) -> None:
        self.chance = random.Random(seed)
        self.twin.habits = Habits(list_lag, 0 if v2 else lag, late, v2)
        if self.chance.random() < 0.1:
            self.twin = SchedulesInMemory(self.twin.habits, attributes=())
        for number, name in enumerate(NAMES):
            self.write(name, (seed + number) % len(PARTS))
        self.runner.run(quiet(self.twin, self.specs, deep=True))

    @rule(name=names, part=parts)
    def write(self, name: str, part: int) -> None:
        self.specs[name] = of(name, part)

    @rule(name=names)
    def drop(self, name: str) -> None:
        self.specs.pop(name, None)

    @rule(deed=deeds)
    def somebody(self, deed: Deed) -> None:
        self.do(deed)

    @rule(
        count=st.integers(1, 3),
        deep=st.booleans(),
        failing=st.booleans(),
        killed=st.booleans(),
        meanwhile=st.lists(st.tuples(st.integers(0, 15), deeds), max_size=3),
    )
    def sync(self, count: int, deep: bool, failing: bool, killed: bool, meanwhile: list[tuple[int, Deed]]) -> None:
        """So many at once, each with one job fewer than the one before; calls may fail, the syncs be killed at any moment."""
        self.declare()
        if failing:
            self.twin.fault_of = self.faults()
        syncs = [sync_once(self.twin, dict(list(self.specs.items())[given:]), deep=deep) for given in range(count)]
        self.known = frozenset(self.twin.kept)
        self.runner.run(self.all_at_once(syncs, meanwhile, killed=killed))
        self.known = frozenset()
        self.declare()
        self.twin.fault_of = lambda _: None

    def do(self, deed: Deed) -> None:
        """During a sync nobody makes a schedule of a name that it has seen: its token is the old one's, and nobody can tell."""
        what, name, part, note = deed
        kept, key = self.twin.kept.get(name), self.key(name)
        if what == "others make":
            if kept is None and name not in self.known:
                made = self.twin.put(of(name, part, OTHER), {"TickwrightOwner": OTHER})
                self.foreign.add((name, made.incarnation))
        elif kept is None or key is None:
            return
        elif what == "pause":
            paused = part % 2 == 0
            self.twin.edit(name, state=RuntimeState(paused, note, kept.state.remaining_actions))
            self.pauses[key], self.notes[key] = paused, note
        elif what == "limit":
            self.twin.edit(name, state=replace(kept.state, remaining_actions=part))
            self.limits[key] = part
        elif what == "trigger":
            self.twin.trigger(name)
            self.runs[key] += 1
        elif what == "edit":
            self.twin.edit(name, **{field: value for field, value in PARTS[part].items() if field != "paused"})
            self.hidden = self.hidden or part in HIDDEN
        elif key not in self.foreign:
            self.twin.remove(name)

    async def all_at_once(self, syncs: list[Any], meanwhile: list[tuple[int, Deed]], *, killed: bool) -> None:
        tasks = [asyncio.ensure_future(sync) for sync in syncs]
        end = self.chance.randrange(60) if killed else 60
        for moment in range(end):
            for at, deed in meanwhile:
                if at == moment:
                    self.do(deed)
            await asyncio.sleep(0)
        if killed:
            for task in tasks:
                task.cancel()
        for ended in await asyncio.gather(*tasks, return_exceptions=True):
            if not isinstance(ended, list | TickwrightError | asyncio.CancelledError):
                raise ended

    def faults(self) -> Callable[[str], Fault | None]:
        def fault(_: str) -> Fault | None:
            if self.chance.random() < 0.15:
                return Fault(self.chance.choice(["UNAVAILABLE", "RESOURCE_EXHAUSTED"]), done=self.chance.random() < 0.5)
            return None

        return fault

    def key(self, name: str) -> tuple[str, int] | None:
        return (name, self.twin.kept[name].incarnation) if name in self.twin.kept else None

    def declare(self) -> None:
        """From now on the pause of these may be the specs', not an operator's."""
        for name, schedule in self.specs.items():
            if schedule.paused is not None and (key := self.key(name)):
                self.pauses.pop(key, None)

    def teardown(self) -> None:
        try:
            self.declare()
            self.twin.settle()
            self.runner.run(self.ends_well())
        finally:
            self.runner.close()

    async def ends_well(self) -> None:
        deep = self.hidden or self.chance.random() < 0.3
        await quiet(self.twin, self.specs, deep=deep)
        self.twin.settle()
        self.as_the_specs_say()
        self.as_operators_left_it()
        self.nothing_foreign_touched()
        versions = {name: kept.version for name, kept in self.twin.kept.items()}
        again = await quiet(self.twin, self.specs, deep=True)
        assert all(item.change.conflict for item in again)
        assert {name: kept.version for name, kept in self.twin.kept.items()} == versions

    def as_the_specs_say(self) -> None:
        for name in NAMES:
            observed, wanted = self.twin.look(name), self.specs.get(name)
            if self.key(name) in self.foreign:
                continue
            assert (observed is None) == (wanted is None), name
            if observed and wanted:
                assert differences(wanted, observed) == ()

    def as_operators_left_it(self) -> None:
        for name, kept in self.twin.kept.items():
            key = (name, kept.incarnation)
            assert kept.state.paused == self.pauses.get(key, kept.state.paused)
            assert kept.state.remaining_actions == self.limits.get(key)
            assert len(kept.activity.running) == self.runs[key]
            if note := self.notes.get(key):
                assert kept.state.note == note
            elif kept.attributes.get("TickwrightOwner") == OWNER:
                assert not kept.state.note or kept.state.note.startswith(SIGNATURE)

    def nothing_foreign_touched(self) -> None:
        for name, incarnation in self.foreign:
            kept = self.twin.kept.get(name)
            assert kept is not None
            assert kept.incarnation == incarnation
            assert kept.attributes == {"TickwrightOwner": OTHER}
            assert not kept.state.note.startswith(SIGNATURE)
