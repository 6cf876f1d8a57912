"""Each scheduled time of a job as a case: what the world was like then, by the log of the faults and by arithmetic alone."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from tests.soak.presence import Outage, away_until
from tests.soak.seen import DECIDED, Run, time_of

if TYPE_CHECKING:
    from tests.soak.jobs import Job
    from tests.soak.operators import Asked, Pause
    from tests.soak.spans import Span

HEAD = 6.0
"""Seconds that a start needs at the most while all is calm: what is due so shortly before an outage may be hit by it."""
EDGE = 3.0
"""Seconds around a change of a schedule in which the server may have heard of it or not."""
HEARD = 2.0
"""Seconds in which a scheduler hears of the end of a run that a server which is not busy has told it."""
LAG, UNSETTLED_LAG = 4.0, 20.0
"""Seconds by which a scheduler may learn late that a run has ended, in calm and around faults."""


class State(StrEnum):
    """`there`: it could start on time. `away`: it could not. `paused`: nobody wanted it to. `between`: the log cannot tell."""

    THERE = "there"
    AWAY = "away"
    PAUSED = "paused"
    BETWEEN = "between"


@dataclass
class Case:
    """`held` says that a run of the job was at work then; `queued` that another was waiting for its end already.

    `there`: a run of the job was, be it that no worker had taken it; `replaced`: a newer one came meanwhile; `paused_while_held`:
    somebody paused the job meanwhile, and what waits then is dropped. `let_go`: a run of the job ended while it waited for its
    jitter, and Temporal's V2 scheduler forgets it then.
    """

    at: int
    state: State
    runs: list[Run]
    outage: Outage | None = None
    pause: Pause | None = None
    asked: bool = False
    promised: bool = False
    held: bool = False
    queued: bool = False
    replaced: bool = False
    there: bool = False
    paused_while_held: bool = False
    let_go: bool = False
    certain_due: bool = True

    @property
    def worked(self) -> list[Run]:
        return [run for run in self.runs if run.worked]


@dataclass
class Ground:
    """All that is known of one job without asking the product. `unsettled` are times around faults of the server."""

    versions: list[tuple[float, float, Job]]
    outages: list[Outage]
    pauses: list[Pause]
    asked: list[Asked]
    runs: list[Run]
    unsettled: list[Span] = field(default_factory=list)
    v2: bool = False

    @property
    def job(self) -> Job:
        """As it was first; its times alone change."""
        return self.versions[0][2]

    def due(self, begin: float, end: float) -> dict[int, bool]:
        """The times, each with whether it was certainly due."""
        found: dict[int, bool] = {}
        for number, (maybe_from, sure_from, job) in enumerate(self.versions):
            following = self.versions[number + 1 :]
            sure_to, maybe_to = (following[0][0], following[0][1]) if following else (end, end)
            for at in job.due(max(begin, maybe_from - EDGE), min(end, maybe_to + EDGE)):
                reach = at + job.jitter
                sure = (sure_from + EDGE < at or number == 0) and (reach < sure_to - EDGE or not following)
                found[at] = found.get(at, False) or sure
        return dict(sorted(found.items()))

    def version(self, at: float) -> Job:
        return [job for maybe_from, _, job in self.versions if maybe_from <= at or job is self.job][-1]

    def is_due_now(self, at: float) -> bool:
        """Whether it is a time of the newest spec."""
        return bool(self.versions[-1][2].due(at - 1, at))

    def cases(self, begin: float, end: float) -> list[Case]:
        own: dict[int, list[Run]] = {}
        for run in self.runs:
            own.setdefault(time_of(run.id) or 0, []).append(run)
        return [self._case(at, own.get(at, []), sure) for at, sure in self.due(begin, end).items()]

    def _case(self, at: int, runs: list[Run], sure: bool) -> Case:
        case = Case(at, State.THERE, runs, certain_due=sure)
        case.outage = next((each for each in self.outages if self._meets(at, each.start, each.end)), None)
        case.state = self._presence(at, case.outage)
        case.pause = next(
            (each for each in self.pauses if self._meets(at, each.maybe_from - EDGE, each.maybe_to + EDGE)), None
        )
        if case.pause:
            inside = case.pause.sure_from < at and at + self.job.jitter < case.pause.sure_to
            case.state = State.PAUSED if inside else State.BETWEEN
        if not sure:
            case.state = State.BETWEEN
        case.asked = any(at in each.times and each.accepted is not False for each in self.asked)
        case.promised = any(at in each.times and each.accepted for each in self.asked)
        self._overlap(case)
        return case

    def _meets(self, at: float, start: float, end: float) -> bool:
        return start < at + self.job.jitter + HEAD and at < end

    def _presence(self, at: float, outage: Outage | None) -> State:
        if outage is None:
            return State.THERE
        late_after = self.version(at).late_after
        if away_until(outage, at) > at + late_after + 0.5:
            return State.AWAY
        return State.THERE if outage.end < at + late_after else State.BETWEEN

    def _overlap(self, case: Case) -> None:
        """What else of the job went on then."""
        at, lag = case.at, LAG
        if any(start <= at <= end for start, end in self.unsettled):
            lag = UNSETTLED_LAG
        reach = at + self.job.jitter + lag
        others = [run for run in self.runs if run not in case.runs]
        holding = [run for run in others if _at_work(run, at) or (_busy(run, reach) and _open(run, at - lag))]
        waiting = [run for run in others if _due(run) <= reach and run.started > at - lag]
        newer = [run for run in others if _due(run) > at]
        queue = [run for run in others if _due(run) < at and _open(run, at)]
        free = max((run.closed or reach for run in [*holding, *queue]), default=at) + lag
        case.held = bool(holding)
        case.queued = any(run is not each for run in waiting for each in holding)
        there = [run for run in others if run.started <= reach and _open(run, at)]
        case.there = bool(there)
        case.replaced = any(_open(each, _due(run) - lag) for run in newer for each in there)
        jitter = self.job.jitter
        case.let_go = self.v2 and bool(jitter) and any(at <= (run.closed or 0) <= at + jitter + HEARD for run in others)
        case.paused_while_held = any(each.maybe_from < free and at < each.maybe_to for each in self.pauses)


def _due(run: Run) -> int:
    return time_of(run.id) or 0


def _at_work(run: Run, at: float) -> bool:
    """Whether a worker had it just then, if only to decide that it does nothing."""
    return run.taken is not None and run.taken <= at and _open(run, at)


def _busy(run: Run, reach: float) -> bool:
    """Whether it did something by then, if only to wait for a newer occurrence that runs in its stead."""
    if run.taken is None or run.taken >= reach:
        return False
    return run.outcome not in DECIDED or (run.closed or run.taken + 9) - run.taken > 2


def _open(run: Run, at: float) -> bool:
    return run.closed is None or run.closed >= at
