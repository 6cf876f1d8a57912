"""A model of what the server starts around outages, as it was seen to on 1.32.0, and of workers that come and go."""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

from activities.contract import CatchUpRequest, LateStart, LateVerdict, TimesRequest
from activities.late.decision import Evidence, decide
from activities.occurrence import stamp

EPOCH = datetime(2027, 3, 1, tzinfo=UTC)
NO_TIMES = TimesRequest("UTC")


def moment(seconds: float) -> datetime:
    return EPOCH + timedelta(seconds=seconds)


def seconds(at: str) -> int:
    return int((datetime.fromisoformat(at) - EPOCH).total_seconds())


@dataclass(frozen=True)
class Listed:
    """Given times, as the evaluator of occurrences has them."""

    times: list[int]

    def next_after(self, after: datetime) -> datetime | None:
        return next((moment(at) for at in self.times if moment(at) > after), None)

    def previous_before(self, before: datetime) -> datetime | None:
        return next((moment(at) for at in reversed(self.times) if moment(at) < before), None)

    def count_between(self, start: datetime, end: datetime) -> int:
        return sum(1 for at in self.times if start <= moment(at) < end)


@dataclass(frozen=True)
class Away:
    """Spans in which the server and all the workers were away: pairs of begin and end."""

    server: tuple[tuple[float, float], ...] = ()
    workers: tuple[tuple[float, float], ...] = ()

    def server_at(self, at: float) -> float:
        """The first moment from then on at which it is there."""
        return _there(self.server, at)

    def both_at(self, at: float) -> float:
        """The first moment at which a worker can take something."""
        while (later := _there(self.workers, _there(self.server, at))) > at:
            at = later
        return at


def _there(spans: tuple[tuple[float, float], ...], at: float) -> float:
    for begin, end in spans:
        if begin <= at < end:
            at = end
    return at


@dataclass
class Run:
    """A start by the server."""

    scheduled: int
    started: float
    after_wait: bool
    closed: float = 0.0


@dataclass
class Model:
    """Plays the whole span; `ran` are the scheduled times that did their work, in order, `late` the verdicts of late runs."""

    times: list[int]
    rule: CatchUpRequest
    away: Away
    duration: float = 0.1
    ran: list[int] = field(default_factory=list)
    late: dict[int, LateVerdict] = field(default_factory=dict)
    skipped: list[int] = field(default_factory=list)
    _ids: set[int] = field(default_factory=set)
    _buffer: list[int] = field(default_factory=list)
    _open: list[Run] = field(default_factory=list)
    _all: list[Run] = field(default_factory=list)
    _caught_up_to: str = ""
    _closed_at: float = -1.0

    def play(self) -> Model:
        """Every moment at which something is due or ends, in order; what is due while the server is away comes at once after."""
        moments = [(self.away.server_at(at), at) for at in self.times]
        heapq.heapify(moments)
        while moments or self._open:
            closing = min((run.closed for run in self._open), default=float("inf"))
            if moments and moments[0][0] <= closing:
                now = moments[0][0]
                batch = []
                while moments and moments[0][0] == now:
                    batch.append(heapq.heappop(moments)[1])
                self._due(sorted(batch), now)
            else:
                self._close(closing)
        return self

    def _due(self, batch: list[int], now: float) -> None:
        for at in batch:
            if now - at > self.rule.window:
                self.skipped.append(at)
                continue
            match self.rule.overlap:
                case "allow_all":
                    self._start(at, now, after_wait=False)
                case "skip":
                    self._keep(at, 0)
                case "buffer_one":
                    self._keep(at, 1)
                case "buffer_all":
                    self._keep(at, 1_000)
                case "cancel_other" | "terminate_other":
                    self._buffer = [at]
        if self._buffer and self._open and self.rule.overlap.endswith("_other"):
            self._end_others(now)
        self._next(now, after_wait=False)

    def _keep(self, at: int, room: int) -> None:
        """One that can start at once takes no room."""
        if len(self._buffer) < room + (0 if self._open else 1):
            self._buffer.append(at)
        else:
            self.skipped.append(at)

    def _end_others(self, now: float) -> None:
        """A cancelled run ends when a worker takes note of it, a terminated one at once."""
        for run in self._open:
            ends = now if self.rule.overlap == "terminate_other" else max(now, self.away.both_at(now))
            if run.closed > ends:
                run.closed = ends
                if self.away.both_at(run.started) >= ends:
                    self._forget(run)
        self._open = [run for run in self._open if run.closed > now]

    def _forget(self, run: Run) -> None:
        """No worker had it."""
        self.late.pop(run.scheduled, None)
        if run.scheduled in self.ran:
            self.ran.remove(run.scheduled)

    def _close(self, now: float) -> None:
        self._open = [run for run in self._open if run.closed > now]
        self._closed_at = now
        self._next(now, after_wait=True)

    def _next(self, now: float, *, after_wait: bool) -> None:
        while self._buffer and not self._open:
            self._start(self._buffer.pop(0), now, after_wait=after_wait)

    def _start(self, at: int, now: float, *, after_wait: bool) -> None:
        if at in self._ids:  # refused as a duplicate
            return
        self._ids.add(at)
        run = Run(at, now, after_wait)
        self._work(run)
        self._open.append(run)
        self._all.append(run)

    def _work(self, run: Run) -> None:
        first_task = self.away.both_at(run.started)
        ends = first_task
        if first_task - run.scheduled > self.rule.late_after:
            verdict = self._decide(run, first_task)
            self.late[run.scheduled] = verdict
        else:
            verdict = LateVerdict(run=True)
        for at in [run.scheduled] if verdict.run else map(seconds, verdict.instead):
            if at == run.scheduled or at not in self._ids:
                self._ids.add(at)
                self.ran.append(at)
                ends += self.duration
        run.closed = ends + 0.01
        self._caught_up_to = verdict.caught_up_to or self._caught_up_to

    def _decide(self, run: Run, first_task: float) -> LateVerdict:
        late = LateStart(
            job="j",
            schedule="j",
            workflow_id=f"j-{run.scheduled}",
            run_id="1",
            scheduled_at=stamp(moment(run.scheduled)),
            started_at=moment(run.started).isoformat(),
            first_task_at=moment(first_task).isoformat(),
            times=NO_TIMES,
            catchup=replace(self.rule),
            caught_up_to=self._caught_up_to if self.rule.overlap != "allow_all" else "",
        )
        back = self._back(run, first_task)
        return decide(late, Listed(self.times), Evidence(back=None if back is None else moment(back)))

    def _back(self, run: Run, first_task: float) -> float | None:
        """When what is proven to have been away at the run's time was back."""
        late_after = self.rule.late_after
        back = None
        if run.started - run.scheduled > late_after:
            held = (each for each in self._all if each.started <= run.scheduled < each.closed <= run.started)
            if holder := next(held, None):
                taken = self.away.both_at(holder.started)
                if taken <= run.scheduled or taken - holder.started <= late_after:
                    return None
                back = taken
            elif (server := self.away.server_at(run.scheduled)) - run.scheduled > late_after:
                back = server
        return first_task if first_task - run.started > late_after else back
