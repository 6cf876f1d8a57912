"""`python -m tests.ceilings`: how many files a folder may have, and how many lines a file and a function."""

from __future__ import annotations

import ast
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("activities", "schedules", "tickwright", "worker", "workflows")
FILES, LINES, FUNCTION_LINES = 25, 250, 40
EXCEPTIONS: dict[str, str] = {
    "activities/contract.py": "the wire format of a run is one module: its converter takes every dataclass of it",
    "schedules/commands/backfill.py:_backfill": "one request after the other, each with its answer to the terminal",
    "schedules/commands/sync.py:plan_options": "a list of options",
    "schedules/ledger/records.py": "everything that is asked of Temporal about runs",
    "schedules/testing.py": "one twin of the server",
    "worker/logs.py:configure_logs": "one call with the processors in their order",
    "worker/testkit/kit.py:run": "half of it is the docstring that users read",
}
"""What may be larger, each with its reason: a folder, a file, or `file:function`."""


def breaches(root: Path = ROOT, packages: tuple[str, ...] = PACKAGES) -> Iterator[tuple[str, str]]:
    """The place and the measure of everything that is over a ceiling."""
    files = sorted(file for package in packages for file in (root / package).rglob("*.py"))
    for folder in sorted({file.parent for file in files}):
        if (count := sum(file.parent == folder for file in files)) > FILES:
            yield str(folder.relative_to(root)), f"{count} files; at most {FILES}"
    for file in files:
        place, text = str(file.relative_to(root)), file.read_text()
        if (lines := text.count("\n")) > LINES:
            yield place, f"{lines} lines; at most {LINES}"
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                lines = (node.end_lineno or 0) - node.lineno + 1
                if lines > FUNCTION_LINES:
                    yield f"{place}:{node.name}", f"{lines} lines; at most {FUNCTION_LINES}"


def main() -> int:
    """Prints what is over a ceiling without an exception, and exceptions that nothing needs; 1 where there is any."""
    found = dict(breaches())
    faults = [f"{place}: {measure}" for place, measure in found.items() if place not in EXCEPTIONS]
    faults += [f"{place}: keeps within its ceiling; remove the exception" for place in EXCEPTIONS.keys() - found.keys()]
    print("\n".join(faults) or f"ceilings: kept, with {len(EXCEPTIONS)} exceptions")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
