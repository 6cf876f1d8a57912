"""Text of spec files that is valid by default, for tests that change one thing."""

from __future__ import annotations

REPORT = '  report: {schedule: "@daily", timezone: UTC, timeout: 5m, run: {command: [a]}}\n'


def spec_text(jobs: str = REPORT, *, project: str = "shop", before: str = "") -> str:
    """A file of a project; `before` stands between `project` and `jobs`."""
    return f"version: 1\nproject: {project}\n{before}jobs:\n{jobs}"


def job_text(name: str, more: str = "") -> str:
    """One job on one line; `more` is further keys, each with a comma before it."""
    return f'  {name}: {{schedule: "@daily", timezone: UTC, timeout: 5m, run: {{command: [a]}}{more}}}\n'
