"""Outages of real servers and workers under many jobs at once, and what should have run, worked out from the clock alone."""

from __future__ import annotations

import asyncio
import json
import time
from contextlib import AsyncExitStack, ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from temporalio.client import Client

from tests.processes import RunningWorker, run_command, starting_worker
from tests.servers import DevServer, dev_server, free_port

if TYPE_CHECKING:
    from collections.abc import Iterable

PATIENCE = 90.0
"""Seconds in which all has to be back."""
QUIET, CYCLES = 4.0, 4
"""Seconds after a phase in which runs may end, and in how many cycles."""
GOING_ON = "WorkflowType = 'JobWorkflow' AND ExecutionStatus = 'Running'"
CYCLE = 30
"""Seconds in which both schedules repeat."""
OFFSETS = {"regular": (0, 10, 20), "irregular": (0, 9, 20)}
SCHEDULES: dict[str, Any] = {
    "regular": {"every": "10s"},
    "irregular": {"cron": "0,9,20,30,39,50 * * * * ?", "dialect": "quartz"},
}
ON_TIME = {"regular": 5.0, "irregular": 4.5}
"""Seconds: half of the shortest distance."""
OVERLAPS = ("skip", "buffer_one", "buffer_all", "cancel_other", "terminate_other", "allow_all")
HANDLER = """
import time
from activities import JobContext, handler

@handler("note")
async def note(context: JobContext) -> None:
    with open(context.job, "a") as file:
        file.write(f"{context.scheduled_at.timestamp():.0f} {time.time():.3f}\\n")
"""


@dataclass(frozen=True)
class Cell:
    """One job: when it fires, what is done about missed runs, and about overlap."""

    schedule: str
    policy: str
    overlap: str

    @property
    def job(self) -> str:
        return f"{self.schedule}-{self.policy}-{self.overlap}".replace("_", "-")

    @property
    def spec(self) -> dict[str, Any]:
        catchup = {"policy": self.policy} | ({"max_missed": 2} if self.policy == "run_all" else {})
        return {"schedule": SCHEDULES[self.schedule], "overlap": self.overlap, "catchup": catchup}

    def due(self, after: float, until: float) -> list[int]:
        """Unix times of its occurrences."""
        first = int(after) // CYCLE * CYCLE
        every = (at + offset for at in range(first, int(until) + 1, CYCLE) for offset in OFFSETS[self.schedule])
        return [at for at in every if after < at <= until]

    def wanted(self, lost: float, back: float) -> list[int]:
        """Which of those that were due in an outage are to run."""
        missed = self.due(lost, back)
        if self.policy == "skip":
            return [at for at in missed[-1:] if back - at <= ON_TIME[self.schedule]]
        return missed[-2:] if self.policy == "run_all" else missed[-1:]


PAIRS = [
    (policy, overlap)
    for policy in ("skip", "run_latest", "run_all")
    for overlap in OVERLAPS
    if policy != "run_all" or overlap in {"buffer_all", "allow_all"}
]


def cells(turn: int) -> list[Cell]:
    """Every pair of policies that go together, by turns with a regular and an irregular schedule."""
    kinds = list(SCHEDULES)
    return [Cell(kinds[(place + turn) % 2], policy, overlap) for place, (policy, overlap) in enumerate(PAIRS)]


@dataclass(frozen=True)
class Outage:
    """From when nothing could run, from when it could again, and from when each job ran on time again."""

    lost: float
    back_from: float
    back_to: float


@dataclass
class World:
    """A server with a database file and these settings, a worker and a job for each cell, any of which can be taken away."""

    folder: Path
    cells: list[Cell]
    config: tuple[str, ...] = ()
    port: int = field(default_factory=free_port)
    _server: ExitStack = field(default_factory=ExitStack)
    _worker: AsyncExitStack = field(default_factory=AsyncExitStack)
    _running: DevServer | None = None
    worker: RunningWorker | None = None

    async def open(self) -> None:
        (self.folder / "noting.py").write_text(HANDLER)
        await self.start_server()
        await self.start_worker()
        jobs = {cell.job: cell.spec for cell in self.cells}
        defaults = {"timezone": "UTC", "timeout": "30s", "run": {"python": {"handler": "note"}}}
        specs = {"version": 1, "project": "outages", "jobs": {name: {**defaults, **job} for name, job in jobs.items()}}
        (self.folder / "jobs.json").write_text(json.dumps(specs))
        finished = await run_command(
            "schedules.sync", self.folder / "jobs.json", env={"TEMPORAL_ADDRESS": self.address}
        )
        assert finished.code == 0, finished.stderr

    async def close(self) -> None:
        await self._worker.aclose()
        await asyncio.to_thread(self._server.close)

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    async def start_server(self) -> None:
        database = self.folder / "temporal.db"
        server = dev_server(port=self.port, database=database, config=self.config)
        self._running = await asyncio.to_thread(self._server.enter_context, server)

    async def start_worker(self) -> None:
        settings = {"modules": "noting", "PYTHONPATH": f"{Path.cwd()}:{self.folder}"}
        starting = starting_worker(self.address, cwd=self.folder, **settings)
        self.worker = await self._worker.enter_async_context(starting)

    async def kill_server(self) -> None:
        assert self._running is not None
        await asyncio.to_thread(self._running.kill)
        await asyncio.to_thread(self._server.close)

    async def kill_worker(self) -> None:
        """SIGKILL."""
        await self._worker.aclose()

    def noted(self, job: str) -> list[tuple[int, float]]:
        """What the job's runs did: the scheduled time and the moment of each, in the order in which they ran."""
        path = self.folder / job
        lines = path.read_text().splitlines() if path.exists() else []
        return [(int(line.split()[0]), float(line.split()[1])) for line in lines]

    def idle(self) -> bool:
        """Whether every job has run for the newest time that is past."""
        now = time.time()
        return all(
            self.noted(cell.job)[-1:][0][0] >= cell.due(now - CYCLE, now)[-1]
            for cell in self.cells
            if self.noted(cell.job)
        )

    async def until_idle(self, patience: float) -> None:
        """Gives the runs that have begun the time to end."""
        until = time.time() + patience
        while not self.idle() and time.time() < until:  # noqa: ASYNC110 - the jobs are other processes
            await asyncio.sleep(0.1)
        await asyncio.sleep(0.5)

    async def until_quiet(self, phase: float) -> None:
        """Waits for a phase at which no run goes on: an outage would stretch it, and what is due then would wait behind it."""
        client = await Client.connect(self.address)
        for _ in range(CYCLES):
            await sleep_until(begin := next_phase(phase))
            while time.time() < begin + QUIET:
                if self.idle() and not (await client.count_workflows(GOING_ON)).count:
                    return
                await asyncio.sleep(0.1)
        raise AssertionError(f"runs went on at {CYCLES} phases: the machine is too slow to tell what an outage did")

    def behind(self, since: float) -> bool:
        """Whether a job has yet to run on time for a time after `since`."""
        return any(
            not any(at > since and moment - at <= ON_TIME[cell.schedule] for at, moment in self.noted(cell.job))
            for cell in self.cells
        )

    async def outage(self, phase: float, length: float, what: Iterable[str]) -> Outage:
        """Takes `what` away at a phase of the cycle, for so many seconds."""
        await self.until_quiet(phase)
        lost = time.time()
        for each in what:
            await (self.kill_server() if each == "server" else self.kill_worker())
        await sleep_until(lost + length)
        back_from = time.time()
        for each in sorted(what):
            await (self.start_server() if each == "server" else self.start_worker())
        while self.behind(back_from) and time.time() < back_from + PATIENCE:  # noqa: ASYNC110 - as above
            await asyncio.sleep(0.1)
        assert not self.behind(back_from), f"some jobs have not run on time in the {PATIENCE:g} s after an outage"
        return Outage(lost, back_from, time.time() + 0.5)


def next_phase(phase: float) -> float:
    """The next moment at which a cycle is so old."""
    now = time.time()
    at = now // CYCLE * CYCLE + phase
    return at if at > now else at + CYCLE


async def sleep_until(moment: float) -> None:
    await asyncio.sleep(max(0.0, moment - time.time()))


def possible(cell: Cell, outages: list[Outage], begin: float, end: float) -> list[list[int]]:
    """What should have run, by when exactly in its bounds each outage ended; times within them may count as missed or not."""
    found: list[list[int]] = [[]]
    since = begin
    for outage in outages:
        ends = sorted({outage.back_from, outage.back_to, *cut_points(cell, outage)})
        branches = []
        for back in ends:
            on_time = cell.due(since, outage.lost)
            branches += [
                [*before, *on_time, *cell.wanted(outage.lost, back), *cell.due(back, outage.back_to)]
                for before in found
            ]
        found, since = branches, outage.back_to
    whole = [[*before, *cell.due(since, end)] for before in found]
    return [list(each) for each in dict.fromkeys(map(tuple, whole))]


def cut_points(cell: Cell, outage: Outage) -> list[float]:
    """Moments at which the answer changes: an occurrence comes due, or the one before is late."""
    span = cell.due(outage.back_from - CYCLE, outage.back_to)
    points = [
        at + delta
        for at in span
        for delta in (-0.01, 0.01, ON_TIME[cell.schedule] - 0.01, ON_TIME[cell.schedule] + 0.01)
    ]
    return [point for point in points if outage.back_from <= point <= outage.back_to]
