"""What loading specs costs beside the least it could: `python benchmarks/bench_load.py [jobs]`.

The yardstick is `yaml.load(…, CSafeLoader)` of the same files plus pydantic's own time for the same merged jobs.
"""

from __future__ import annotations

import gc
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml
from figures import report

from schedules.source.load import load_project
from schedules.spec.job import JobSpec
from schedules.spec.layers import merge_job

JOBS_IN_A_FILE = 20
FILES_IN_A_DIRECTORY = 25
ROUNDS = 7
ALLOWED = 1.5

HEAD = """\
version: 1
project: %s
defaults: {timezone: America/New_York, timeout: 30m, retry: {max_attempts: 3, initial: 10s, max: 5m}}
jobs:
"""
JOBS = (
    """\
  %(project)s-dunning-%(n)d:
    description: Remind customers of overdue invoices
    schedule: "%(minute)d 8 * * 1-5"
    jitter: 30s
    timeout: 5m
    labels: {team: payments}
    run:
      http: {method: POST, url: "https://billing.internal/dunning/%(n)d", json: {date: "{scheduled_at:%%Y-%%m-%%d}"}}
""",
    """\
  %(project)s-cleanup-%(n)d:
    schedule: "%(minute)d 3 * * *"
    timezone: UTC
    retry: {max_attempts: 1}
    run: {python: {handler: delete-old-rows, params: {table: "sessions_%(n)d", older_than: 30d}}}
""",
    """\
  %(project)s-reconcile-%(n)d:
    description: Compare the ledger with the bank
    schedule:
      - {cron: "%(minute)d 2 * * *"}
      - {every: 6h, offset: %(minute)dm}
    deadline: 4h
    run: {command: ["./export.sh", "{interval_start:%%F}", "{interval_end:%%F}"]}
""",
)


def write_specs(root: Path, jobs: int, project: str = "bench") -> None:
    """A tree of files with realistic jobs of three kinds; their names begin with the project's."""
    for first in range(0, jobs, JOBS_IN_A_FILE):
        number = first // JOBS_IN_A_FILE
        file = root / f"team-{number // FILES_IN_A_DIRECTORY:03}" / f"jobs-{number:04}.yaml"
        file.parent.mkdir(exist_ok=True)
        last = min(first + JOBS_IN_A_FILE, jobs)
        text = "".join(JOBS[n % len(JOBS)] % {"n": n, "minute": n % 60, "project": project} for n in range(first, last))
        file.write_text(HEAD % project + text, encoding="utf-8")


def parse(files: list[Path]) -> list[dict[str, Any]]:
    """What PyYAML makes of the files."""
    return [yaml.load(file.read_bytes(), yaml.CSafeLoader) for file in files]


def seconds(action: Callable[[], object]) -> float:
    """Processor time of one call, which neighbours on the machine change less than the time on the wall."""
    gc.collect()
    start = time.process_time()
    action()
    return time.process_time() - start


def main(jobs: int) -> int:
    """Prints the figures of the median round; 1 if loading takes more than is allowed."""
    with tempfile.TemporaryDirectory() as directory:
        root = Path(directory)
        write_specs(root, jobs)
        files = sorted(root.rglob("*.yaml"))
        merged = [
            merge_job(data["defaults"], job) | {"name": name}
            for data in parse(files)
            for name, job in data["jobs"].items()
        ]
        assert len(load_project([directory]).jobs) == jobs
        rounds = []
        for _ in range(ROUNDS):
            loading = seconds(lambda: load_project([directory]))
            parsing = seconds(lambda: parse(files))
            checking = seconds(lambda: [JobSpec.model_validate(job) for job in merged])
            rounds.append((loading / (parsing + checking), loading, parsing, checking))
    ratio, loading, parsing, checking = sorted(rounds)[ROUNDS // 2]
    print(f"{jobs:,} jobs in {len(files):,} files: load_project {loading:.2f} s")
    detail = f"yaml.load {parsing:.2f} s, pydantic alone {checking:.2f} s"
    return int(not report("load / parse and check", ratio, detail, aim=ALLOWED))


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000))
