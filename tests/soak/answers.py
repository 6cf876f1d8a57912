"""What the product says of each time by its own commands, compared with what the oracle knows."""

from __future__ import annotations

import asyncio
import json
import sys
from asyncio.subprocess import PIPE, Process
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tests.processes import environment
from tests.soak.cases import Case, Ground, State
from tests.soak.jobs import stamp
from tests.soak.oracle import Finding, excuses
from tests.soak.seen import time_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator, Sequence

ENDINGS = frozenset({"succeeded", "failed", "timed_out", "cancelled"})
UNKNOWN = frozenset({"unknown"})
"""On the scheduler without a history some reasons cannot be told, which then has to be said."""
Lines = dict[str, dict[int, dict[str, Any]]]
"""By job and time, the line of `runs`."""


@dataclass
class Asking:
    """One process that answers one question at a time."""

    process: Process

    async def ask(self, *words: str) -> Any:
        """The JSON document of a command. Raises AssertionError."""
        assert self.process.stdin
        assert self.process.stdout
        self.process.stdin.write(json.dumps([*words, "--output", "json"]).encode() + b"\n")
        code, out, err = json.loads(await self.process.stdout.readline())
        assert out, f"{words}: {code} {err[-500:]}"
        return json.loads(out)


@asynccontextmanager
async def asking(address: str) -> AsyncIterator[Asking]:
    """Ends with the block."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.soak.commands"),
        env={**environment({}, "soak"), "TEMPORAL_ADDRESS": address},
        stdin=PIPE,
        stdout=PIPE,
        limit=2**26,
    )
    try:
        yield Asking(process)
    finally:
        process.kill()
        await process.wait()


async def verdicts(asked: Asking, jobs: Sequence[str], begin: float) -> Lines:
    """What `runs` says."""
    found: Lines = {}
    for job in jobs:
        document = await asked.ask("runs", job, "--since", stamp(begin))
        found[job] = {time_of(line["scheduled_at"]) or 0: line for line in document["occurrences"]}
    return found


async def explained(asked: Asking, chosen: Sequence[tuple[str, int]]) -> dict[tuple[str, int], str]:
    """What `explain` says of some times."""
    found = {}
    for job, at in chosen:
        document = await asked.ask("explain", job, stamp(at))
        found[job, at] = str((document["occurrence"] or {}).get("outcome", document["due"]))
    return found


async def missed(asked: Asking, begin: float) -> dict[str, int]:
    """How many times of each job `status` counts as missed, those too late among them."""
    document = await asked.ask("status", "--since", stamp(begin))
    return {row["job"]: row["missed"] for row in document["jobs"]}


def compare(ground: Ground, cases: list[Case], lines: dict[int, dict[str, Any]]) -> Iterator[Finding]:
    """A line for each time, with the word that holds."""
    for case in cases:
        line, right = lines.get(case.at), expected(ground, cases, case)
        verdict = line["outcome"] if line else "no line"
        if not line and ground.v2 and not ground.is_due_now(case.at):  # V2 keeps none of the specs before
            continue
        if "buffered" in right:  # it may have come to its turn since
            right |= ENDINGS | {"running", "waiting"}
        if verdict not in right | UNKNOWN:
            why = f"{line['reason']} {line['evidence']}" if line else ""
            text = f"`runs` says {verdict}, not {' or '.join(sorted(right))} ({case.state}): {why}"
            yield Finding("verdict", ground.job.name, case.at, text)


def expected(ground: Ground, cases: list[Case], case: Case) -> set[str]:
    """The words that are right; of a time that is lost none is, but that is said elsewhere."""
    reasons = excuses(ground, cases, case)
    if not case.runs:
        more = {"no line"} if not case.certain_due else set()
        return reasons | more or {"missed", "buffered"}
    found = {run.verdict for run in case.runs}
    if case.runs[-1].closed is None:  # it may have ended since it was looked at
        found |= ENDINGS
    if ground.job.overlap == "terminate_other" and "terminated" in found:
        found = found - {"terminated"} | {"cancelled"}  # the policy ended it, which is no failure
    if not case.worked and case.state in {State.AWAY, State.BETWEEN}:
        found |= reasons & {"superseded"}
    return found


def compare_explained(said: dict[tuple[str, int], str], lines: Lines) -> Iterator[Finding]:
    """`explain` says the same as `runs`."""
    for (job, at), outcome in said.items():
        other = lines[job][at]["outcome"]
        if outcome != other and other not in {"buffered", "waiting", "running"}:
            yield Finding("verdict", job, at, f"`explain` says {outcome}, `runs` {other}")


def compare_status(said: dict[str, int], lines: Lines, end: float) -> Iterator[Finding]:
    """`status` counts as missed what `runs` calls so."""
    for job, count in said.items():
        counted = sum(line["outcome"] in {"missed", "too_late"} for line in lines.get(job, {}).values())
        if job in lines and count != counted:
            yield Finding("verdict", job, end, f"`status` counts {count} missed, `runs` {counted}")
