"""Next ten times of ten thousand mixed jobs, from text: ours against croniter and cronsim, in one run.

Ours does more for its time: it compiles to what the server is sent, clock changes of four years worked out.
"""

from __future__ import annotations

import gc
import time
from datetime import UTC, datetime, timedelta
from itertools import islice
from random import Random
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from croniter import croniter
from cronsim import CronSim

from schedules.cron import Occurrences, compile_cron
from schedules.model import Times

if TYPE_CHECKING:
    from collections.abc import Callable

    Job = tuple[str, str]

JOBS = 10_000
TIMES = 10
START = datetime(2027, 3, 1, 0, 0, tzinfo=UTC)
HORIZON_END = START + timedelta(days=3 * 365)
FAR = datetime(2099, 1, 1, tzinfo=UTC)
ZONES = ("UTC", "UTC", "UTC", "America/New_York", "Europe/Berlin", "Asia/Kolkata")
RARE = "0 0 29 2 1"


def mixed_jobs(count: int) -> list[Job]:
    """Expressions as crontabs hold them: mostly daily and hourly, some every few minutes, some weekly or rarer."""
    random = Random(1)

    def expression() -> str:
        minute, hour = random.randrange(60), random.randrange(24)
        return random.choice(
            (
                f"{minute} {hour} * * *",
                f"{minute} {hour} * * *",
                f"{minute} {hour} * * *",
                f"{minute} {hour} * * 1-5",
                f"{minute} * * * *",
                f"{minute} */{random.choice((2, 3, 4, 6))} * * *",
                f"*/{random.choice((5, 10, 15, 20, 30))} * * * *",
                f"*/{random.choice((5, 10, 15))} 8-18 * * 1-5",
                f"{minute} {hour} * * {random.randrange(7)}",
                f"{minute} {hour} {1 + random.randrange(28)} * *",
                f"{minute} {hour} 1 1,4,7,10 *",
                f"{minute} {hour} 13 * 5",
                f"{minute} {hour} L * *",
                f"{minute} {hour} * * {random.randrange(7)}#{random.randrange(1, 5)}",
                "* * * * *",
            )
        )

    return [(expression(), random.choice(ZONES)) for _ in range(count)]


def ours(job: Job) -> list[datetime]:
    text, zone = job
    compiled = compile_cron(text, timezone=zone, horizon_start=START, horizon_end=HORIZON_END)
    return ten(Times(compiled.timezone, compiled.calendars, compiled.intervals))


def ten(times: Times) -> list[datetime]:
    return list(islice(Occurrences(times).between(START + timedelta(seconds=1), FAR), TIMES))


def with_croniter(job: Job) -> list[datetime]:
    text, zone = job
    steps = croniter(text, START.astimezone(ZoneInfo(zone)), ret_type=datetime)
    return [steps.get_next() for _ in range(TIMES)]


def with_cronsim(job: Job) -> list[datetime]:
    text, zone = job
    return list(islice(CronSim(text, START.astimezone(ZoneInfo(zone))), TIMES))


def seconds(work: Callable[[Job], object], jobs: list[Job]) -> float:
    gc.collect()
    begun = time.process_time()
    for job in jobs:
        work(job)
    return time.process_time() - begun


def main() -> None:
    jobs = mixed_jobs(JOBS)
    compiled = {
        job: Times(made.timezone, made.calendars, made.intervals)
        for job in set(jobs)
        for made in [compile_cron(job[0], timezone=job[1], horizon_start=START, horizon_end=HORIZON_END)]
    }
    own = seconds(ours, jobs)
    evaluated = seconds(lambda job: ten(compiled[job]), jobs)
    croniter_s, cronsim_s = seconds(with_croniter, jobs), seconds(with_cronsim, jobs)
    print(f"next {TIMES} times of {JOBS} jobs, seconds")
    for name, taken in (
        ("croniter", croniter_s),
        ("cronsim", cronsim_s),
        ("ours, from text", own),
        ("ours, from the compiled form", evaluated),
    ):
        ratios = f"{croniter_s / taken:6.1f} x croniter {cronsim_s / taken:6.1f} x cronsim"
        print(f"  {name:30} {taken:7.3f}  {JOBS / taken:9.0f} jobs/s  {ratios}")
    half = seconds(ours, jobs[: JOBS // 2])
    print(f"half as many jobs: {half / own:.2f} of the time")
    often, seldom = (seconds(ours, [(text, "UTC")] * 1000) for text in ("0 0 * * 1", RARE))
    print(f"a job every 28 years ({RARE}): {seldom / often:.2f} of the time of a weekly one")


if __name__ == "__main__":
    main()
