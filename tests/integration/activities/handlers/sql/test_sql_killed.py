"""Sessions that end or hang at any byte of what goes over the line: each run's payment is made once."""

from __future__ import annotations

import asyncio
import os
import random
import shutil
import tempfile
from collections import Counter
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from temporalio.exceptions import ApplicationError

from activities.occurrence import stamp
from tests.cut_line import Direction, cut_line
from tests.integration.activities.handlers.sql.conftest import PAY
from tests.step_calls import bench, step_call

if TYPE_CHECKING:
    from activities.contract import StepCall
    from tests.cut_line import CutLine
    from tests.integration.activities.handlers.sql.conftest import Steps
    from tests.postgres import PostgresServer
    from tests.step_calls import Bench

RUNS = int(os.environ.get("TICKWRIGHT_TEST_SQL_RUNS", "60"))
STALLS = 10
"""Each tenth run hangs: there the next attempt may have to wait for what the first holds."""
BEGUN = datetime(2027, 3, 1, tzinfo=UTC)


def _call(run: int, line: str) -> StepCall:
    params = {"connection": f"${{secret:{line}}}", "statement": f"{PAY};\nSELECT 1", "parameters": {"amount": run}}
    return replace(step_call("sql", params), scheduled_at=stamp(BEGUN + timedelta(minutes=run)))


async def _until_done(made: Bench, run: int, line: str, *, first: int) -> int:
    """The attempt that succeeded."""
    for number in range(first, first + 5):
        made.at_attempt(number)
        with suppress(ApplicationError):
            await made.run(_call(run, line))
            return number
    raise AssertionError(f"run {run} never succeeded")


async def _hang(first: Bench, second: Bench, run: int, line: CutLine) -> None:
    """The first attempt stands still while the second is made, and goes on when that has succeeded, or was told to wait for the first."""
    hanging = asyncio.create_task(first.run(_call(run, "LINE")))
    stopped = asyncio.create_task(line.stopped.wait())
    await asyncio.wait([hanging, stopped], return_when=asyncio.FIRST_COMPLETED)
    stopped.cancel()
    second.at_attempt(2)
    made = asyncio.create_task(second.run(_call(run, "DIRECT")))
    await asyncio.wait([made])
    line.released.set()
    ended = await asyncio.gather(hanging, made, return_exceptions=True)
    if all(isinstance(each, BaseException) for each in ended):
        await _until_done(second, run, "DIRECT", first=3)


async def test_no_payment_is_lost_or_made_twice_wherever_the_session_ends(
    postgres: PostgresServer, on_postgresql: Steps
) -> None:
    folder, chance = Path(tempfile.mkdtemp(prefix="tw-line-", dir="/tmp")), random.Random(7)
    attempts: Counter[int] = Counter()
    secrets = {"DIRECT": on_postgresql.url, "LINE": on_postgresql.url.replace(str(postgres.folder), str(folder))}
    try:
        async with (
            cut_line(folder, postgres.folder) as line,
            bench(secrets=secrets) as first,
            bench(secrets=secrets) as second,
        ):
            await first.run(_call(0, "DIRECT"))  # It makes the table, which the others find.
            await first.run(_call(1, "LINE"))
            whole = dict(line.passed)
            for run in range(2, RUNS):
                direction: Direction = chance.choice(get_args(Direction))
                line.at(direction, chance.randrange(whole[direction]), stall=run % STALLS == 0)
                first.at_attempt(1)
                if line.stall:
                    await _hang(first, second, run, line)
                    continue
                with suppress(ApplicationError):
                    await first.run(_call(run, "LINE"))
                    attempts[1] += 1
                    continue
                line.limit = float("inf")
                attempts[await _until_done(first, run, "LINE", first=2)] += 1
    finally:
        shutil.rmtree(folder)
    assert sorted(amount for (amount,) in on_postgresql.rows()) == list(range(RUNS))
    assert attempts[2] > RUNS // 3, "most sessions were cut while their step went on"
