"""What `next --cron` takes from start to end beside `python -c 'import pydantic'`: `python benchmarks/bench_next_startup.py`."""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import tempfile

from figures import report

ROUNDS = 31
ALLOWED = 1.5
EXPRESSION = ["next", "--cron", "30 2 * * *", "--timezone", "America/New_York", "--count", "10"]
COMMANDS = {
    "import pydantic": ["-c", "import pydantic"],
    "next, json": ["-m", "schedules", *EXPRESSION, "--output", "json"],
    "next, text": ["-m", "schedules", *EXPRESSION],
}


def seconds(arguments: list[str], environ: dict[str, str]) -> float:
    """Processor time of one start, which neighbours on the machine change less than the time on the wall."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL, env=environ)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> int:
    """Prints the medians of rounds that take turns; 1 if a start takes more than is allowed."""
    with tempfile.TemporaryDirectory() as folder:
        environ = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        environ["PYTHONPYCACHEPREFIX"] = folder
        for arguments in COMMANDS.values():  # byte code is written once, as by an installation
            seconds(arguments, environ)
        rounds = [{name: seconds(arguments, environ) for name, arguments in COMMANDS.items()} for _ in range(ROUNDS)]
    medians = {name: statistics.median(each[name] for each in rounds) for name in COMMANDS}
    yardstick = medians.pop("import pydantic")
    reached = []
    for name, median in medians.items():
        detail = f"{median * 1000:.0f} ms / {yardstick * 1000:.0f} ms of processor time"
        reached.append(report(f"{name} / import pydantic", median / yardstick, detail, aim=ALLOWED))
    return int(not all(reached))


if __name__ == "__main__":
    sys.exit(main())
