"""Generated histories of one job, and the namespace that keeps one of them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

from activities.account.facts import Run
from activities.account.record import Event, SchedulerRecord
from activities.contract import CatchUpRequest, JobResult, NotRun
from activities.occurrence import stamp
from activities.overlap import OVERLAPS, overlap_policy
from schedules.ledger.facts import Job
from schedules.ledger.port import Found
from schedules.ledger.records import Records
from schedules.model import Interval, Times
from schedules.notes import pause_note, resume_note
from schedules.server.translate_times import to_spec
from tests.factories import utc

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

HOUR, MINUTE = timedelta(hours=1), timedelta(minutes=1)
TIMES = Times("UTC", intervals=(Interval(3600),))
BEGIN = utc("2027-03-01T00:00")
COUNT = 20
NOW = BEGIN + COUNT * HOUR + 20 * MINUTE
FOREVER = datetime.max.replace(tzinfo=UTC)


@dataclass
class World(Records):
    """What a namespace tells of one job, in the pieces in which it is read."""

    job_now: Job
    runs_kept: list[Run]
    kept: SchedulerRecord
    away: frozenset[datetime] = frozenset()
    calls: Counter[str] = field(default_factory=Counter)
    client: Any = field(default_factory=SimpleNamespace)

    async def jobs(self, owner: str | None) -> list[Job]:
        """As List has it: without policies, counts and dates."""
        hidden: dict[str, Any] = {
            "overlap": None,
            "window": None,
            "catchup": None,
            "remaining": None,
            "waiting": 0,
            "retention": None,
        }
        return [replace(self.job_now, created_at=None, updated_at=None, dropped=0, skipped=0, **hidden)]

    async def job(self, name: str) -> Job | None:
        return self.job_now

    async def runs(self, query: str, most: int | None = None) -> Found:
        listed = map(_as_listed, self.runs_kept)
        if "Running" in query:
            return Found([run for run in listed if run.closed_at is None])
        return Found([run for run in listed if run.closed_at or "CloseTime" not in query])

    async def runs_of(
        self, job: Job, since: datetime, until: datetime, most: int | None = None, *, open_after: datetime | None = None
    ) -> Found:
        within = [_as_listed(run) for run in self.runs_kept if since <= run.scheduled_at <= until]
        if open_after is None:
            return Found(within)
        return Found([run for run in within if run.closed_at is None or run.closed_at > open_after])

    async def runs_with(self, attribute: str, values: Sequence[str], also: str = "") -> list[Run]:
        return [_as_listed(run) for run in self.runs_kept if run.id in values]

    async def with_results(self, runs: Iterable[Run]) -> list[Run]:
        whole = {run.run_id: run for run in self.runs_kept}
        return [whole[run.run_id] for run in runs]

    async def with_waiting(self, runs: Iterable[Run]) -> list[Run]:
        return list(runs)

    async def record(self, schedule_id: str, since: datetime, until: datetime) -> SchedulerRecord | None:
        return self.kept

    async def quiet(self, job: Job, times: Sequence[datetime]) -> frozenset[datetime]:
        return self.away.intersection(times)

    async def executions(self, query: str) -> list[Any]:
        return []

    async def newest_executions(self, query: str) -> list[Any]:
        return []

    async def history(self, *_: Any) -> list[Any]:
        return []

    async def described(self, workflow_id: str, run_id: str = "") -> None:
        return None


def _as_listed(run: Run) -> Run:
    return replace(run, result=None)


def one_behind_another() -> World:
    """A run that waited for one that has ended goes on, and the next one waits for it."""
    first, second, then = (BEGIN + number * HOUR for number in (16, 17, 18))
    runs_kept = [
        Run(f"relay-{stamp(first)}", "one", first, first, then + 30 * MINUTE, "completed", scheduled_by="relay"),
        Run(f"relay-{stamp(second)}", "two", second, then + 30 * MINUTE, scheduled_by="relay"),
    ]
    known = Event(BEGIN - HOUR, "known", paused=False, spec=to_spec(TIMES))
    job = Job("relay", TIMES, created_at=BEGIN - HOUR, overlap="buffer_one", waiting=1, workflow_type="JobWorkflow")
    return World(job, runs_kept, SchedulerRecord(((known.at, FOREVER),), (known,)))


@st.composite
def worlds(draw: st.DrawFn) -> World:
    """A day of a job of every hour: runs on time, late or long, outages, a pause, on either scheduler."""
    overlap, policy = draw(st.sampled_from(OVERLAPS)), draw(st.sampled_from(["skip", "run_latest", "run_all"]))
    is_v2, paused = draw(st.booleans()), draw(st.sampled_from(["never", "then", "still"]))
    first = draw(st.integers(1, COUNT - 3))
    pause, end = BEGIN + first * HOUR - 5 * MINUTE, BEGIN + (first + draw(st.integers(1, 3))) * HOUR - 5 * MINUTE
    events = [Event(BEGIN - HOUR, "created", paused=False, spec=to_spec(TIMES))]
    note, written = "", BEGIN - HOUR
    if paused != "never":
        note, written = pause_note("ann@host", pause, "deploy", None), pause
        events.append(Event(pause, "paused", note, "ann", paused=True))
    if paused == "then":
        note, written = resume_note("bob@host", end, "", since=pause), end
        events.append(Event(end, "unpaused", note, "bob", paused=False))
    off = (pause if paused != "never" else FOREVER, end if paused == "then" else FOREVER)
    runs_kept = draw(_runs(off, in_turn=overlap_policy(overlap).holds_back))
    away = draw(st.sets(st.integers(0, COUNT), max_size=4))
    wakes = tuple(BEGIN + each * HOUR for each in range(COUNT + 1) if each not in away)
    record = SchedulerRecord(((BEGIN - HOUR, FOREVER),), (*events,), wakes, wakes, FOREVER)
    if is_v2:
        known = Event(written, "known", note, paused=paused == "still", spec=to_spec(TIMES))
        record = SchedulerRecord(((written, FOREVER),), (known,))
    rule: Any = CatchUpRequest(policy, overlap, 10.0, 86_400.0, max_missed=draw(st.integers(1, 3)))  # type: ignore[arg-type]  # a table's text
    job = Job(
        "relay",
        TIMES,
        paused=paused == "still",
        note=note,
        created_at=BEGIN - HOUR,
        overlap=overlap,
        catchup=draw(st.sampled_from([rule, None])),
        window=draw(st.sampled_from([None, 1800])),
        waiting=draw(st.integers(0, 2)) if any(run.closed_at is None for run in runs_kept) else 0,
        workflow_type="JobWorkflow",
        is_v2=is_v2,
    )
    return World(job, runs_kept, record, frozenset(BEGIN + each * HOUR for each in away))


@st.composite
def _runs(draw: st.DrawFn, off: tuple[datetime, datetime], *, in_turn: bool) -> list[Run]:
    """Those `in_turn` begin when the one before them has ended, as a schedule that holds runs back starts them."""
    runs: list[Run] = []
    for number in range(COUNT + 1):
        at = BEGIN + number * HOUR
        if off[0] <= at < off[1] or not draw(st.booleans()):
            continue
        turn = (runs[-1].closed_at or FOREVER) if in_turn and runs else at
        if turn > NOW:
            break
        late = max(draw(st.sampled_from([timedelta(0), MINUTE, 90 * MINUTE])), turn - at)
        started = min(at + late, NOW)
        took = timedelta(minutes=draw(st.sampled_from([1, 70, 150])))
        closed = started + took if started + took < NOW else None
        outcome: Any = draw(st.sampled_from(["succeeded", "succeeded", "failed", "too_late", "superseded"]))
        not_run = None
        if closed and draw(st.booleans()):
            not_run = NotRun(1, stamp(at - HOUR), stamp(at - HOUR), "superseded by a newer one")
        result = JobResult(outcome, stamp(at), late.total_seconds(), 1.0, 1, not_run=not_run) if closed else None
        status: Any = "running" if closed is None else "failed" if outcome == "failed" else "completed"
        marked = outcome if closed and outcome in {"too_late", "superseded"} else ""
        run_id = f"run-{number}"
        name = f"relay-{stamp(at)}"
        runs.append(Run(name, run_id, at, started, closed, status, marked, "relay", result=result))
    return runs
