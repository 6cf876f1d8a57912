"""What a sync costs beside the least it could: `python benchmarks/bench_sync.py [schedules]`, on an embedded server.

Both sides of a ratio are measured in the same run and in turns, on the same schedules. The command's memory and whole time
are those of a process of its own.
"""

from __future__ import annotations

import asyncio
import gc
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

from bench_load import write_specs
from figures import report
from temporalio.client import (
    Client,
    Schedule,
    ScheduleActionStartWorkflow,
    ScheduleCalendarSpec,
    ScheduleIntervalSpec,
    ScheduleRange,
    ScheduleSpec,
)
from temporalio.common import SearchAttributeKey, SearchAttributePair, TypedSearchAttributes
from temporalio.service import RPCError

from activities.contract import OWNER_ATTRIBUTE
from schedules.compile.job import compile_project
from schedules.lint.load import load_checked
from schedules.model import Calendar, DesiredSchedule
from schedules.plan.fingerprint import ATTRIBUTES
from schedules.server.gateway import TemporalGateway
from schedules.server.translate_times import CALENDAR_FIELDS
from schedules.sync.apply import CONCURRENCY, Applier
from schedules.sync.audit import audit_of
from schedules.sync.head_start import load_while_asking
from schedules.sync.reconcile import plan_sync
from worker.dev.embedded import embedded_server

BARE = TypedSearchAttributes(
    [SearchAttributePair(SearchAttributeKey.for_keyword(name), f"bare/{name}") for name in ATTRIBUTES]
)
ROUNDS = 5
CHUNKS = 10
DESCRIBED = 1_000
ATTEMPTS = 5
PATIENCE = timedelta(minutes=1)


async def limited(calls: Sequence[Callable[[], Awaitable[object]]]) -> float:
    """Seconds that the calls take, as many at once as a sync makes."""
    limit = asyncio.Semaphore(CONCURRENCY)

    async def one(call: Callable[[], Awaitable[object]]) -> None:
        async with limit:
            await call()

    begin = time.perf_counter()
    made = [asyncio.ensure_future(one(call)) for call in calls]
    try:
        await asyncio.gather(*made)
    finally:
        for each in made:
            each.cancel()
    return time.perf_counter() - begin


def calendar(given: Calendar) -> ScheduleCalendarSpec:
    """The SDK's form."""
    fields = {name: [ScheduleRange(r.start, r.end, r.step) for r in getattr(given, name)] for name in CALENDAR_FIELDS}
    return ScheduleCalendarSpec(comment=given.comment, **fields)


def bare(client: Client, desired: DesiredSchedule) -> Callable[[], Awaitable[object]]:
    """The same schedule made by the SDK, under another name and another owner's."""
    times, action = desired.times, desired.action
    schedule = Schedule(
        action=ScheduleActionStartWorkflow(
            action.workflow_type,
            args=action.args,
            id=f"bare-{desired.id}",
            task_queue=action.task_queue,
            typed_search_attributes=BARE,
            static_summary=action.summary,
            static_details=action.details,
        ),
        spec=ScheduleSpec(
            calendars=[calendar(each) for each in times.calendars],
            intervals=[
                ScheduleIntervalSpec(timedelta(seconds=each.every), timedelta(seconds=each.offset))
                for each in times.intervals
            ],
            jitter=timedelta(seconds=times.jitter),
            time_zone_name=times.timezone,
        ),
    )
    return lambda: client.create_schedule(f"bare-{desired.id}", schedule, search_attributes=BARE)


def load(folder: Path, now: datetime) -> tuple[str, dict[str, DesiredSchedule]]:
    """What the command does before it connects."""
    project = load_checked([str(folder)], None)
    return project.owner, compile_project(project, now)


async def first_apply(client: Client, owner: str, desired: dict[str, DesiredSchedule]) -> tuple[float, float]:
    """Seconds of a bare loop of `create_schedule`, and of our plan and apply, in turns over parts of the schedules."""
    gateway, audit = TemporalGateway(client), audit_of(())
    theirs, begin = 0.0, time.perf_counter()
    if missing := await gateway.missing_attributes():
        await gateway.add_attributes(missing)
    plan = await plan_sync(gateway, owner, desired, datetime.now(UTC))
    ours = time.perf_counter() - begin
    size = -(-len(plan.changes) // CHUNKS)
    for first in range(0, len(plan.changes), size):
        changes = plan.changes[first : first + size]
        theirs += await limited([bare(client, desired[change.job]) for change in changes])
        begin = time.perf_counter()
        results = await Applier(replace(plan, changes=changes), gateway, audit).apply(asyncio.Event(), lambda _: None)
        ours += time.perf_counter() - begin
        assert {item.result for item in results} == {"applied"}
    return theirs, ours


async def page(client: Client, owner: str) -> float:
    """Seconds that it takes to see each of the schedules once."""
    begin = time.perf_counter()
    found = 0
    async for _ in await client.list_schedules(query=f"{OWNER_ATTRIBUTE} = '{owner}'"):
        found += 1
    assert found
    return time.perf_counter() - begin


async def no_op(client: Client, folder: Path, count: int) -> float:
    """Seconds of a sync that finds nothing to do, loading and compiling included."""
    gc.collect()
    begin, now, gateway = time.perf_counter(), datetime.now(UTC), TemporalGateway(client)
    loaded, listed = await load_while_asking(
        [str(folder)], None, None, now, shadow=False, start=None, ask=gateway.owned
    )
    plan = await plan_sync(gateway, loaded.owner, loaded.desired, now, listed=listed)
    seconds = time.perf_counter() - begin
    assert (plan.changes, plan.unchanged) == ((), count)
    return seconds


async def describe(client: Client, names: Sequence[str]) -> float:
    """Seconds to describe so many of them, as many at once as a sync does; a part that met an error is measured anew."""
    for attempt in range(1, ATTEMPTS + 1):
        try:
            return await limited(
                [partial(client.get_schedule_handle(name).describe, rpc_timeout=PATIENCE) for name in names]
            )
        except RPCError as error:
            print(f"describing {len(names)}, attempt {attempt}: {error.status.name}: {error.message}", flush=True)
            await asyncio.sleep(attempt)
    raise SystemExit(f"the server did not describe {len(names)} schedules without an error in {ATTEMPTS} attempts")


def command(folder: Path, address: str) -> tuple[float, float]:
    """Wall time in seconds and peak memory in MB of `python -m schedules.sync` with nothing to do."""
    begin = time.perf_counter()
    env = {**os.environ, "TEMPORAL_ADDRESS": address, "PYTHONPATH": str(Path(__file__).parents[1])}
    argv = [sys.executable, "-m", "schedules.sync", str(folder)]
    done = subprocess.run(argv, env=env, capture_output=True, text=True, check=True)
    assert " 0 to create, 0 to update, 0 to delete" in done.stderr, done.stderr
    return time.perf_counter() - begin, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024


async def settled(client: Client, owner: str, count: int) -> None:
    """Waits until List knows all of them."""
    while len(await TemporalGateway(client).owned(owner)) < count:
        pass


async def measure(client: Client, root: Path, count: int, address: str) -> bool:
    """All figures; whether each is within what is allowed."""
    whole, quarter = root / "whole", root / "quarter"
    for folder, size, project in ((whole, count, "bench"), (quarter, count // 4, "quarter")):
        folder.mkdir()
        write_specs(folder, size, project)
    owner, desired = load(whole, datetime.now(UTC))
    small_owner, small = load(quarter, datetime.now(UTC))
    theirs, ours = await first_apply(client, owner, desired)
    await first_apply(client, small_owner, small)
    await settled(client, owner, count)
    await settled(client, small_owner, count // 4)
    sample = list(desired)[:DESCRIBED]
    rounds = []
    for number in range(ROUNDS):
        paging, idle = await page(client, owner), await no_op(client, whole, count)
        part = sample[number::ROUNDS]
        describing = await describe(client, part) * count / len(part)
        rounds.append((paging, idle, await no_op(client, quarter, count // 4), describing))
    paging, idle, idle_small, describing = (statistics.median(column) for column in zip(*rounds, strict=True))
    seconds, memory = await asyncio.to_thread(command, whole, address)
    spread = ", ".join(f"{b / a:.2f}" for a, b, *_ in rounds)
    times = ", ".join(f"{d / b:.1f}" for _, b, _, d in rounds)
    print(f"{count:,} schedules; the whole command with nothing to do takes {seconds:.2f} s")
    return all(
        [
            report(
                "no-op / paging",
                statistics.median(b / a for a, b, *_ in rounds),
                f"{idle:.2f} s / {paging:.2f} s; by round: {spread}",
                aim=1.3,
            ),
            report(
                "describing / no-op",
                statistics.median(d / b for _, b, _, d in rounds),
                f"{describing:.2f} s / {idle:.2f} s, by {len(sample):,} of them; by round: {times}",
                aim=10,
                at_least=True,
            ),
            report(
                "apply / bare create",
                theirs / ours,
                f"{count / ours:.0f}/s / {count / theirs:.0f}/s",
                aim=0.9,
                at_least=True,
            ),
            report("MB", memory, "peak of the command", aim=300),
            report(
                "per schedule, whole / quarter", idle / idle_small / 4, f"{idle:.2f} s / {idle_small:.2f} s", aim=1.5
            ),
        ]
    )


async def main(count: int) -> int:
    """Prints the figures; 1 if one is worse than allowed."""
    with tempfile.TemporaryDirectory() as folder:
        async with embedded_server(Path(folder) / "server", lambda: None) as server:
            client = await Client.connect(server.address)
            return int(not await measure(client, Path(folder), count, server.address))


if __name__ == "__main__":
    sys.exit(asyncio.run(main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000)))
