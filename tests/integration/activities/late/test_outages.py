"""Whatever was away and however long: exactly the missed runs that the spec asks for, each once, under every overlap policy."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import pytest
from temporalio.client import Client

from activities.contract import JobResult
from tests.integration.outages import Cell, Outage, World, cells, next_phase, possible, sleep_until
from tests.schedulers import V2

SETTLED = 3.0
"""Seconds after an outage in which runs may still be ending, so that overlap keeps the next from starting."""
PHASES = (24, 12)
"""Of the cycle of thirty seconds: neither schedule has a run about to start or just begun, then and 32.5 s later."""
LENGTH = 32.5
SCENARIOS: dict[str, list[tuple[str, ...]]] = {
    "server": [("server",)],
    "all workers": [("worker",)],
    "both": [("server", "worker")],
    "the server, then all workers": [("server",), ("worker",)],
}

CONFIGS: dict[str, tuple[str, ...]] = {"V1": (), "V2": V2}

ACCOUNTED = {"skip", "allow_all"}
"""Of the others the server itself ends or replaces runs without a word of ours, such as a cancelled one."""


async def carry_out(
    folder: Path, outages: list[tuple[str, ...]], jobs: list[Cell], config: tuple[str, ...] = ()
) -> list[str]:
    """What is wrong, a line for each cell; empty where all is as it should be."""
    world = World(folder, jobs, config)
    try:
        await world.open()
        begin = next_phase(23)
        await sleep_until(begin)
        seen = [
            await world.outage(phase=phase, length=LENGTH, what=what)
            for phase, what in zip(PHASES, outages, strict=False)
        ]
        await sleep_until(seen[-1].back_to + SETTLED + 6)
        await world.until_idle(30)
        end = time.time() - 3
        wrong = [line for cell in world.cells for line in compare(world, cell, seen, begin, end)]
        return [*wrong, *await unaccounted(world, seen)]
    finally:
        await world.close()


def compare(world: World, cell: Cell, outages: list[Outage], begin: float, end: float) -> list[str]:
    """What came due while all was coming back may count as missed or as on time; it is not compared, but never runs twice."""
    noted = [at for at, _ in world.noted(cell.job) if begin < at <= end]
    loose = {at for outage in outages for at in cell.due(outage.back_from, outage.back_to + SETTLED)}
    expected = [[at for at in each if at not in loose] for each in possible(cell, outages, begin, end)]
    ran = [at for at in (sorted(noted) if cell.overlap == "allow_all" else noted) if at not in loose]
    if ran in expected and len(noted) == len(set(noted)):
        return []
    relative = [[at - int(begin) for at in each] for each in (noted, *expected)]
    bounds = [tuple(round(at - begin, 1) for at in (each.lost, each.back_from, each.back_to)) for each in outages]
    return [f"{cell.job}: ran {relative[0]}, not {' or '.join(map(str, relative[1:]))}; outages {bounds}"]


async def unaccounted(world: World, outages: list[Outage]) -> list[str]:
    """All missed ones but the newest of each outage are accounted for: by an outcome of their own, or in another run's count."""
    client = await Client.connect(world.address)
    wrong = []
    for cell in world.cells:
        if cell.policy != "run_latest" or cell.overlap not in ACCOUNTED:
            continue
        query = f"ExecutionStatus = 'Completed' AND TemporalScheduledById = '{cell.job}'"
        runs = [run async for run in client.list_workflows(query)]
        results = [await client.get_workflow_handle(run.id, result_type=JobResult).result() for run in runs]
        own = sum(result.outcome == "superseded" for result in results)
        left_out = own + sum(result.not_run.count for result in results if result.not_run)
        fewest = sum(len(cell.due(outage.lost, outage.back_from)) - 1 for outage in outages)
        most = sum(len(cell.due(outage.lost, outage.back_to + SETTLED)) - 1 for outage in outages)
        if not fewest <= left_out <= most:
            wrong.append(f"{cell.job}: {left_out} accounted for, not {fewest} to {most}")
    return wrong


@pytest.mark.timeout(600)
@pytest.mark.parametrize("config", CONFIGS.values(), ids=CONFIGS)
async def test_after_an_outage_exactly_the_wanted_runs_are_made_up_for(tmp_path: Path, config: tuple[str, ...]) -> None:
    """Each scenario on a server of its own, all at the same time."""
    folders = [tmp_path / str(turn) for turn in range(len(SCENARIOS))]
    for folder in folders:
        await asyncio.to_thread(folder.mkdir)
    worlds = zip(folders, SCENARIOS.values(), strict=True)
    found = await asyncio.gather(
        *(carry_out(folder, what, cells(turn), config) for turn, (folder, what) in enumerate(worlds))
    )
    assert not (wrong := [f"{name}: {line}" for name, lines in zip(SCENARIOS, found, strict=True) for line in lines]), (
        "\n".join(wrong)
    )
