"""The people of the soak: they pause and resume jobs, ask for runs, and change the times of jobs, all by the real commands."""

from __future__ import annotations

import asyncio
import json
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tests.processes import Finished, run_command
from tests.soak.jobs import Job, changed, changing, spec, stamp

if TYPE_CHECKING:
    from random import Random

    from tests.soak.world import World

PATIENCE = 90.0
TRIES = 20
PEOPLE = 4
"""At most so many jobs are in hand at a time: on a machine that does not keep up, those of more would only take time from each other."""


@dataclass
class Pause:
    """A pause may begin at `maybe_from` and is certain from `sure_from`; its end likewise. `most` of its times run afterwards."""

    job: str
    maybe_from: float
    sure_from: float = 0.0
    sure_to: float = 0.0
    maybe_to: float = 0.0
    most: int = 0
    resumed: bool = False
    interrupted: bool = False


@dataclass
class Asked:
    """Occurrences that somebody asked for; `accepted` is None where the command was cut off."""

    job: str
    by: str
    times: list[int]
    begin: float
    end: float
    accepted: bool | None
    said: str


@dataclass
class Triggered:
    """A run that somebody asked for now; `workflow_id` is what the command said."""

    job: str
    begin: float
    end: float
    code: int | None
    workflow_id: str
    result: str
    said: str


@dataclass
class Operators:
    """What they did is in `pauses`, `asked`, `triggered` and `versions`: of a job's times, each with when it may and must hold from."""

    world: World
    jobs: dict[str, Job]
    database: str
    url: str
    random: Random
    pauses: list[Pause] = field(default_factory=list)
    asked: list[Asked] = field(default_factory=list)
    triggered: list[Triggered] = field(default_factory=list)
    versions: dict[str, list[tuple[float, float, Job]]] = field(default_factory=dict)
    _busy: set[str] = field(default_factory=set)

    async def sync(self) -> Finished | None:
        document = spec(
            list(self.jobs.values()), database=self.database, url=self.url, work=str(self.world.folder / "work.log")
        )
        path = self.world.folder / "jobs.json"
        path.write_text(json.dumps(document))
        begin = time.time()
        finished = await self._run("schedules.sync", str(path), "--no-preflight", "--output", "json", timeout=90)
        self.world.log("sync", seconds=round(time.time() - begin, 1), code=finished and finished.code)
        return finished

    async def declare(self) -> None:
        """The first sync. Raises AssertionError."""
        begin = time.time()
        finished = await self.sync()
        assert finished
        assert finished.code == 0, finished.stderr
        self.versions = {name: [(begin, time.time(), job)] for name, job in self.jobs.items()}

    async def change(self) -> None:
        """Gives a job other times, or those back that it had; until it is done, nobody knows which ones hold."""
        name = self.random.choice([job.name for job in changing([self.versions[each][0][2] for each in self.versions])])
        first = self.versions[name][0][2]
        self.jobs[name] = changed(first) if self.jobs[name] == first else first
        begin = time.time()
        for _ in range(TRIES):
            finished = await self.sync()
            if finished and finished.code == 0:
                break
            await asyncio.sleep(3)
        self.versions[name].append((begin, time.time(), self.jobs[name]))
        self.world.log("times changed", job=name, since=begin)

    async def pause(self, job: Job) -> None:
        """For a while; what of its times is made up for then is the resume's to say, which may be cut off and asked for again."""
        pause = Pause(job.name, time.time())
        self.pauses.append(pause)
        code = await self._until_done("pause", job.name, "--reason", "soak")
        pause.sure_from = time.time() if code == 0 else float("inf")
        await asyncio.sleep(self.random.uniform(15, 75))
        catchup, pause.most = self.random.choice([("skip", 0), ("run_latest", 1), ("run_all", 2)])
        more = ["--max", "2"] if catchup == "run_all" else []
        await _until_no_time_is_close(job)
        pause.sure_to = time.time()
        if self.random.random() < 0.3:
            pause.interrupted = True
            await self._run(
                "schedules", "resume", job.name, "--catchup", catchup, *more, timeout=self.random.uniform(0.8, 2.5)
            )
        code = await self._until_done("resume", job.name, "--catchup", catchup, *more)
        pause.maybe_to, pause.resumed = time.time(), code == 0
        self.world.log("paused", **vars(pause), catchup=catchup)

    async def trigger(self, job: Job) -> None:
        """Now, at a moment with no time of the job close by."""
        await _until_no_time_is_close(job)
        begin = time.time()
        finished = await self._run("schedules", "trigger", job.name, "--output", "json")
        answer = _document(finished)
        said = Triggered(
            job.name,
            begin,
            time.time(),
            finished.code if finished else None,
            str(answer.get("workflow_id", "")),
            str(answer.get("result", "")),
            (str(answer.get("reason", "")) or (finished.stderr[-300:] if finished else "")),
        )
        self.triggered.append(said)
        self.world.log("trigger", **vars(said))

    async def ask_for_one(self, job: Job) -> None:
        """An occurrence of some minutes ago, whatever became of it."""
        now = time.time()
        if not (times := job.due(now - 240, now - 75)):
            return
        at = self.random.choice(times)
        await self._ask(job, [at], "trigger", job.name, "--scheduled-at", stamp(at))

    async def backfill(self, job: Job) -> None:
        """All of some minutes that have not succeeded."""
        now = time.time()
        begin, end = now - 200, now - 75
        if not (times := job.due(begin, end)):
            return
        words = ("--from", stamp(begin + 1), "--to", stamp(end), "--missing", "--no-wait")
        await self._ask(job, times, "backfill", job.name, *words)

    async def _ask(self, job: Job, times: list[int], *words: str) -> None:
        begin = time.time()
        finished = await self._run("schedules", *words, "--output", "json")
        accepted = None if finished is None or finished.code < 0 else finished.code == 0
        said = (finished.stdout + finished.stderr)[-400:] if finished else "cut off"
        asked = Asked(job.name, words[0], times, begin, time.time(), accepted, said)
        self.asked.append(asked)
        self.world.log("asked", **vars(asked))

    async def work(self) -> None:
        """One thing after another, each with a job that nobody else has in hand, until cancelled."""
        doing: set[asyncio.Task[None]] = set()
        while True:
            await asyncio.sleep(self.random.uniform(6, 16))
            if len(self._busy) >= PEOPLE:
                continue
            free = [job for name, job in self.jobs.items() if name not in self._busy]
            what = self.random.choice([self.pause, self.pause, self.trigger, self.ask_for_one, self.backfill])
            task = asyncio.create_task(self._alone(what, self.random.choice(free)))
            doing.add(task)
            task.add_done_callback(doing.discard)

    async def _alone(self, what: Any, job: Job) -> None:
        self._busy.add(job.name)
        try:
            await what(job)
        finally:
            self._busy.discard(job.name)

    async def at_rest(self) -> None:
        """Waits until nobody has a job in hand."""
        while self._busy:  # noqa: ASYNC110 - several tasks end it
            await asyncio.sleep(0.5)

    async def _until_done(self, *words: str) -> int | None:
        """Again and again, as somebody does who sees it fail."""
        finished = None
        for _ in range(TRIES):
            finished = await self._run("schedules", *words, "--output", "json")
            if finished and finished.code == 0:
                return 0
            self.world.log(
                "again", words=words, said=(finished.stdout + finished.stderr)[-300:] if finished else "cut off"
            )
            await asyncio.sleep(3)
        return finished.code if finished else None

    async def _run(self, module: str, *words: str, timeout: float = PATIENCE) -> Finished | None:
        """None where it took too long and was killed."""
        environ = {"TEMPORAL_ADDRESS": self.world.address}
        try:
            return await run_command(module, *words, env=environ, timeout=timeout)
        except TimeoutError:
            return None


async def _until_no_time_is_close(job: Job) -> None:
    while job.due(time.time() - 2 - job.jitter, time.time() + 5):  # noqa: ASYNC110 - time itself sets no event
        await asyncio.sleep(0.3)


def _document(finished: Finished | None) -> dict[str, Any]:
    try:
        found = json.loads(finished.stdout) if finished else {}
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
