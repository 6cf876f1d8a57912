"""A project on disk and the command that applies it, as a deploy pipeline has them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.processes import Finished, run_command


class Deploy:
    """A directory with one file of jobs, and the command that applies it."""

    def __init__(self, folder: Path, environ: dict[str, str], project: str) -> None:
        self.folder, self.environ, self.project = folder, environ, project
        self.jobs: dict[str, dict[str, Any]] = {}
        self.channels: dict[str, Any] = {}

    def job(self, name: str, **fields: Any) -> None:
        what = {} if "steps" in fields else {"run": {"command": ["echo", name]}}
        self.jobs[f"{self.project}-{name}"] = {"schedule": "0 8 * * 1-5", **what, **fields}

    def write(self) -> None:
        defaults = {"timezone": "America/New_York", "timeout": "5m"}
        document = {"version": 1, "project": self.project, "defaults": defaults, "jobs": self.jobs}
        document |= {"channels": self.channels} if self.channels else {}
        (self.folder / "jobs.json").write_text(json.dumps(document))

    async def run(self, *options: str) -> Finished:
        self.write()
        return await run_command("schedules.sync", self.folder, *options, env=self.environ)

    async def sync(self, *options: str) -> dict[str, Any]:
        """Applies what is written; the JSON document."""
        finished = await self.run("--output", "json", *options)
        assert finished.code == 0, finished.stderr
        document: dict[str, Any] = json.loads(finished.stdout)
        return document
