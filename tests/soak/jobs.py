"""The jobs of the soak: every overlap and catch-up policy, on regular and irregular times that plain arithmetic can tell."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

PROJECT = "soak"
QUEUES = ("soak-a", "soak-b")
OVERLAPS = ("skip", "buffer_one", "buffer_all", "cancel_other", "terminate_other", "allow_all")
PAIRS = [
    (policy, overlap)
    for policy in ("skip", "run_latest", "run_all")
    for overlap in OVERLAPS
    if policy != "run_all" or overlap in {"buffer_all", "allow_all"}
]
ON_TIME = 60.0
CYCLE = 7200
"""Seconds in which every schedule here repeats."""

Grid = tuple[int, int]
"""A period and an offset in seconds of Unix time."""


@dataclass(frozen=True)
class Entry:
    """What a spec says of times, and the same as grids; every zone used here is whole hours away from UTC."""

    spec: Any
    grids: tuple[Grid, ...]


def every(period: int, offset: int = 0) -> Entry:
    return Entry({"every": f"{period}s", "offset": f"{offset}s"}, ((period, offset),))


def seconds(*offsets: int) -> Entry:
    text = ",".join(map(str, offsets))
    return Entry({"cron": f"{text} * * * * ?", "dialect": "quartz"}, tuple((60, each) for each in offsets))


def minutes(step: int = 1) -> Entry:
    return Entry("* * * * *" if step == 1 else f"*/{step} * * * *", ((60 * step, 0),))


@dataclass(frozen=True)
class Job:
    """One job; a run lasts `lasts` seconds, and each `nth` one lasts `long`."""

    name: str
    policy: str
    overlap: str
    entries: tuple[Entry, ...]
    kind: str
    most: int = 1
    jitter: int = 0
    deadline: int | None = None
    lasts: float = 1.0
    long: float = 1.0
    nth: int = 3
    queue: str = QUEUES[0]
    zone: str = "UTC"

    def due(self, after: float, until: float) -> list[int]:
        """Unix times, without those of `after` and before."""
        found = set()
        for entry in self.entries:
            for period, offset in entry.grids:
                first = int((after - offset) // period + 1) * period + offset
                found |= set(range(first, int(until) + 1, period))
        return sorted(found)

    @property
    def late_after(self) -> float:
        """By the documentation: a minute, half of the shortest distance if that is less, and jitter on top; a deadline bounds it."""
        shortest = min(later - earlier for earlier, later in pairwise(self.due(0, CYCLE)))
        usual = max(1.0, min(ON_TIME, shortest / 2)) + self.jitter
        return usual if self.deadline is None else min(usual, self.deadline)

    def run_id(self, at: int) -> str:
        return f"{self.name}-{stamp(at)}"


def stamp(at: float) -> str:
    return f"{datetime.fromtimestamp(at, UTC):%Y-%m-%dT%H:%M:%SZ}"


def all_jobs() -> list[Job]:
    """Three of each pair of policies: short and regular, often longer than its distance and irregular, of several steps."""
    return [
        make(number, policy, overlap)
        for make in (_short, _long, _steps)
        for number, (policy, overlap) in enumerate(PAIRS)
    ]


def _base(style: str, policy: str, overlap: str, entries: tuple[Entry, ...], kind: str) -> Job:
    name = f"{style}-{policy}-{overlap}".replace("_", "-")
    return Job(name, policy, overlap, entries, kind, most=2 if policy == "run_all" else 1)


def _short(number: int, policy: str, overlap: str) -> Job:
    entries = (every(20 + number % 3 * 5, number % 20),)
    job = _base("short", policy, overlap, entries, ("note", "book", "post", "command")[number % 4])
    return replace(job, queue=QUEUES[number % 3 == 2], lasts=0.5)


def _long(number: int, policy: str, overlap: str) -> Job:
    """The mean of its runs fits between its times, so that what waits is worked off."""
    entries = [(seconds(5, 20, 48),), (every(45, number), minutes()), (every(30, number),)][number % 3]
    job = _base("long", policy, overlap, entries, ("note", "command")[number % 2])
    jitter = 4 if number % 4 == 1 else 0
    return replace(job, lasts=2.0, long=34.0, nth=4, jitter=jitter, zone="America/New_York")


def _steps(number: int, policy: str, overlap: str) -> Job:
    entries = [(minutes(),), (every(60, 3 * number),), (minutes(2), every(90, 45))][number % 3]
    job = _base("steps", policy, overlap, entries, ("chain", "fan")[number % 2])
    deadline = (25, None, 45)[number % 3]
    return replace(job, deadline=deadline, queue=QUEUES[number % 4 == 3], zone="Europe/Berlin", lasts=0.5)


def changed(job: Job) -> Job:
    """The same job with other times: those that a sync gives it during an outage."""
    [(period, offset)] = job.entries[0].grids
    return replace(job, entries=(every(period + 10, offset),))


def changing(jobs: list[Job]) -> list[Job]:
    """Jobs whose times a sync changes now and then: regular ones, half of those that run most often."""
    return [job for job in jobs if job.name.startswith("short-")][1::3]


def spec(jobs: list[Job], *, database: str, url: str, work: str) -> dict[str, Any]:
    """The spec file of all jobs."""
    return {
        "version": 1,
        "project": PROJECT,
        "defaults": {
            "timeout": "100s",
            "heartbeat_timeout": "6s",
            "retry": {"max_attempts": 100, "initial": "1s", "max": "2s"},
        },
        "jobs": {job.name: _job_spec(job, database, url, work) for job in jobs},
    }


def _job_spec(job: Job, database: str, url: str, work: str) -> dict[str, Any]:
    steps = _kinds(job, database, url, work)
    does = {"run": steps[0]} if len(steps) == 1 else {"steps": steps}
    more = {"start_deadline": f"{job.deadline}s"} if job.deadline else {}
    return {
        "schedule": [entry.spec for entry in job.entries],
        "timezone": job.zone,
        "overlap": job.overlap,
        "catchup": {"policy": job.policy} | ({"max_missed": job.most} if job.policy == "run_all" else {}),
        "task_queue": job.queue,
        "jitter": f"{job.jitter}s",
        **more,
        **does,
    }


def _kinds(job: Job, database: str, url: str, work: str) -> list[dict[str, Any]]:
    times = {"lasts": job.lasts, "long": job.long, "nth": job.nth}
    note: dict[str, Any] = {"python": {"handler": "note", "params": times}}
    book = {"python": {"handler": "book", "params": {"database": database, "takes": 0.2}}}
    post = {"http": {"url": f"{url}/book", "json": {"at": "{scheduled_at:%FT%T}"}}}
    shell = {"command": {"argv": [_shell(job, work)], "shell": True}}
    chain = [{"name": "book", **book}, {"name": "post", **post}, {"name": "shell", **shell}]
    fan: list[dict[str, Any]] = [{**each, "needs": []} for each in chain[:2]] + [
        {"name": "note", **note, "needs": ["book", "post"]}
    ]
    return {"note": [note], "book": [book], "post": [post], "command": [shell], "chain": chain, "fan": fan}[job.kind]


def _shell(job: Job, work: str) -> str:
    """Says in the log of the work that it begins, sleeps, and says that it ends."""
    long = f'[ $(( $(date -d "$AT" +%s) / 15 % {job.nth} )) = 0 ] && D={job.long} || D={job.lasts}'
    say = 'echo "$TICKWRIGHT_IDEMPOTENCY_KEY $(date +%s.%N)'
    key = 'AT=$(echo "$TICKWRIGHT_IDEMPOTENCY_KEY" | cut -d/ -f4)'
    return f'{key}; {long}; {say} begin" >> {work}; sleep $D; {say} end" >> {work}'
