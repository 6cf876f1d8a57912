"""What `status` and a monitor cost in one namespace, made once: `python benchmarks/look.py [jobs]`; ten thousand take minutes."""

from __future__ import annotations

import asyncio
import os
import sys

import bench_monitor
import bench_status
from jobs_that_ran import jobs_that_ran


async def main(count: int) -> int:
    """Prints the figures of both; 1 if one is worse than allowed."""
    print("load averages:", *(f"{load:.1f}" for load in os.getloadavg()), flush=True)
    async with jobs_that_ran(count) as namespace:
        fine = [await bench_status.measure(namespace), await bench_monitor.measure(namespace)]
    print("load averages:", *(f"{load:.1f}" for load in os.getloadavg()))
    return int(not all(fine))


if __name__ == "__main__":
    sys.exit(asyncio.run(main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000)))
