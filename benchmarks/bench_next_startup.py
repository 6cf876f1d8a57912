"""What `next --cron` takes from start to end beside `python -c 'import pydantic'`: `python benchmarks/bench_next_startup.py`."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time

ROUNDS = 31
ALLOWED = 2.0
EXPRESSION = ["next", "--cron", "30 2 * * *", "--timezone", "America/New_York", "--count", "10"]
COMMANDS = {
    "import pydantic": ["-c", "import pydantic"],
    "next, json": ["-m", "schedules", *EXPRESSION, "--output", "json"],
    "next, text": ["-m", "schedules", *EXPRESSION],
}


def seconds(arguments: list[str]) -> float:
    start = time.perf_counter()
    subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def main() -> int:
    """Prints the medians of rounds that take turns; 1 if a start takes more than is allowed."""
    for arguments in COMMANDS.values():  # byte code is written once
        seconds(arguments)
    rounds = [{name: seconds(arguments) for name, arguments in COMMANDS.items()} for _ in range(ROUNDS)]
    medians = {name: statistics.median(each[name] for each in rounds) for name in COMMANDS}
    yardstick = medians.pop("import pydantic")
    ratios = {name: median / yardstick for name, median in medians.items()}
    shown = ", ".join(f"{name} {medians[name] * 1000:.0f} ms = {ratio:.2f} x" for name, ratio in ratios.items())
    sys.stdout.write(f"import pydantic {yardstick * 1000:.0f} ms; {shown}; allowed: {ALLOWED} x\n")
    return int(max(ratios.values()) > ALLOWED)


if __name__ == "__main__":
    sys.exit(main())
