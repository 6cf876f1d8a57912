"""All benchmarks, one after the other, and a table of their figures: `python benchmarks`; exit code 1 where an aim is missed."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from figures import FILE, kept, table


def main() -> int:
    """Runs each benchmark in a process of its own, so that none is measured with what another has loaded."""
    failed = []
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "figures.jsonl"
        file.touch()
        environ = {**os.environ, FILE: str(file), "PYTHONPATH": str(Path(__file__).parents[1])}
        for bench in sorted(Path(__file__).parent.glob("bench_*.py")):
            print(f"== {bench.name}", flush=True)
            if subprocess.run([sys.executable, str(bench)], env=environ, check=False).returncode:
                failed.append(bench.name)
        print("", table(kept(file)), sep="\n")
    if failed:
        print(f"missed an aim, or broke: {', '.join(failed)}")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
