"""Many commands of the product in little time: a process that has imported them and forks for each.

Reads a JSON list of words a line, and answers with a JSON line of the exit code, the output and what went to standard error.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from pathlib import Path

import temporalio.client  # noqa: F401 - what takes its time is imported before the forks

import schedules.ledger.records  # noqa: F401
from schedules.__main__ import main


def answer(words: list[str]) -> str:
    """Runs one command to its end."""
    with tempfile.TemporaryDirectory() as folder:
        out, err = Path(folder) / "out", Path(folder) / "err"
        if (child := os.fork()) == 0:
            for path, number in ((out, 1), (err, 2)):
                os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT), number)
            main(words)
        _, status = os.waitpid(child, 0)
        return json.dumps([os.waitstatus_to_exitcode(status), out.read_text(), err.read_text()])


if __name__ == "__main__":
    for line in sys.stdin:
        print(answer(json.loads(line)), flush=True)
