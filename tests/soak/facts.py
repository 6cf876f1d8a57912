"""All that a soak leaves behind, as one value in a file: it can be judged again, by other rules, without another soak."""

from __future__ import annotations

import pickle
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.soak.answers import Lines, asking, explained, missed, verdicts
from tests.soak.cases import Ground
from tests.soak.jobs import Job
from tests.soak.operators import Asked, Pause, Triggered
from tests.soak.presence import Presence, outages
from tests.soak.seen import Seen, look
from tests.soak.world import WORKERS

if TYPE_CHECKING:
    from tests.soak.operators import Operators
    from tests.soak.world import World

AROUND = 20.0
MOST_EXPLAINED = 60
SHORT = 300.0
"""Seconds; the product is asked about some of the jobs of a shorter soak."""


@dataclass(frozen=True)
class Facts:
    """What was done and what happened from `begin` to `end`; `lines`, `explained` and `missed` are what the product says of it."""

    scheduler: str
    begin: float
    end: float
    now: float
    versions: dict[str, list[tuple[float, float, Job]]]
    pauses: list[Pause]
    asked: list[Asked]
    triggered: list[Triggered]
    presence: dict[str, Presence]
    events: list[dict[str, Any]]
    seen: Seen
    lines: Lines
    explained: dict[tuple[str, int], str]
    missed: dict[str, int]

    def ground(self, name: str) -> Ground:
        """What is known of one job."""
        versions, server = self.versions[name], self.presence["server"]
        workers = [self.presence[worker] for worker, queue in WORKERS.items() if queue == versions[0][2].queue]
        away = outages(server, workers, self.begin - 60, self.now)
        around = [*server.down, *server.settling, *((each.start, each.end) for each in away)]
        return Ground(
            versions,
            away,
            [pause for pause in self.pauses if pause.job == name],
            [asked for asked in self.asked if asked.job == name],
            self.seen.of_job(name),
            [(start - AROUND, last + AROUND) for start, last in around],
            self.scheduler == "v2",
        )

    def keep(self, folder: Path) -> None:
        (folder / "facts.pickle").write_bytes(pickle.dumps(self))


async def collect(world: World, operators: Operators, begin: float, end: float, posted: Counter[str]) -> Facts:
    """Asks the server what happened, and the product what it says of it."""
    for presence in world.presence.values():
        presence.end(time.time())
    now = time.time()
    seen = await look(world.address, world.folder, operators.database, posted)
    short = end - begin < SHORT
    names = operators.random.sample(list(operators.jobs), 14 if short else len(operators.jobs))
    async with asking(world.address) as asked:
        lines = await verdicts(asked, names, begin)
        settled = [(job, at, line) for job, each in lines.items() for at, line in each.items() if at <= end]
        unusual = [(job, at) for job, at, line in settled if line["outcome"] not in {"succeeded", "running"}]
        chosen = operators.random.sample(unusual, min(len(unusual), 6 if short else MOST_EXPLAINED))
        told, counted = await explained(asked, chosen), await missed(asked, begin)
    facts = Facts(
        world.scheduler,
        begin,
        end,
        now,
        operators.versions,
        operators.pauses,
        operators.asked,
        operators.triggered,
        world.presence,
        world.events,
        seen,
        lines,
        told,
        counted,
    )
    facts.keep(world.folder)
    return facts
