"""Every surface gives an occurrence the same verdict: `runs`, `explain`, `status`, the monitor's metrics, the board and `on_missed`."""

from __future__ import annotations

import asyncio
from datetime import datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

from hypothesis import Phase, event, example, given, settings
from temporalio.service import RPCError, RPCStatusCode
from temporalio.testing import ActivityEnvironment

from activities.account.facts import LEFT_OUT, LOST, MISSABLE
from activities.contract import TimesRequest
from activities.notices.contract import Target
from activities.occurrence import stamp
from activities.watchdog.contract import Look, WatchdogRequest, WatchedJob, WatchState
from activities.watchdog.missed import WatchActivities
from schedules.board.day import Day
from schedules.board.kinds import kind_of
from schedules.board.past import Frame, past
from schedules.board.start_counts import Grid
from schedules.ledger.account import account
from schedules.ledger.explain import explain
from schedules.ledger.overview import overview
from schedules.ledger.selection import Selection
from schedules.monitor.watch import DAY, Watch
from tests.property.job_histories import BEGIN, HOUR, MINUTE, NOW, World, one_behind_another, worlds
from worker.accounts import accounted

if TYPE_CHECKING:
    from schedules.ledger.occurrences import Occurrence

Verdicts = dict[datetime, tuple[str, str]]


@settings(max_examples=25, phases=[Phase.explicit, Phase.reuse, Phase.generate])
@example(one_behind_another())
@given(worlds())
def test_every_surface_gives_an_occurrence_the_same_verdict(world: World) -> None:
    asyncio.run(_compare(world))


async def _compare(world: World) -> None:
    runs = await account(world, world.job_now, NOW - DAY, NOW, NOW)
    expected = _verdicts(runs.occurrences)
    for verdict, _ in expected.values():
        event(verdict)

    [state] = (await overview(world, await world.jobs(None), None, NOW - DAY, NOW, all_jobs=True)).states
    assert (state.missed, state.skipped) == _counts(runs.occurrences)
    assert _verdicts(state.occurrences) == expected

    watch = Watch(world, Selection(None))
    await watch.look(NOW)
    [figures], watched = watch.figures, watch.known[world.job_now.name]
    assert figures.missed == state.missed
    assert watched.state
    assert _verdicts(watched.state.occurrences) == expected

    frame = Frame.around(NOW, DAY, None)
    cells = past(watched, watched.state, Day(), Grid().of(watched.job.times, frame.begin, frame.end), frame).cells
    kinds = [(each, kind_of(each, NOW - timedelta(seconds=10))) for each in runs.occurrences]
    for each, kind in kinds:
        cell = cells.get(int(each.scheduled_at.timestamp()) // 900)
        assert (set(cell.counts) if cell else set()) == ({kind} if kind else set()), (each, kind)

    for each in [each for each in runs.occurrences if each.run is None and each.scheduled_at >= BEGIN][-3:]:
        explained = await explain(world, world.job_now.name, stamp(each.scheduled_at), NOW)
        assert explained.occurrence
        assert _verdicts([explained.occurrence]) == _verdicts([each])
        reasons = [each.reason] if _is_noticed(world, each) else []
        assert await _notices(world, each.scheduled_at) == reasons


def _is_noticed(world: World, each: Occurrence) -> bool:
    """A late run that has just begun may still decide about it."""
    if each.verdict == "paused":
        return world.job_now.paused and NOW - each.scheduled_at >= HOUR
    begun = [run for run in world.runs_kept if run.closed_at is None and NOW - run.started_at < MINUTE]
    return each.verdict in MISSABLE and all(run.scheduled_at > each.scheduled_at for run in begun)


async def _notices(world: World, at: datetime) -> list[str]:
    """The reasons that people are given who are told of a pause after an hour."""
    activities = WatchActivities(NoRuns, lambda *_: at, partial(accounted, world), now=lambda: NOW)  # type: ignore[arg-type]  # all that is asked of a client
    job = WatchedJob("relay", TimesRequest("UTC", intervals=[[3600, 0]]), 60.0, HOUR.total_seconds(), [0])
    look = Look(WatchdogRequest("billing", "default", [Target("hook")], [job]), WatchState(stamp(at), stamp(NOW)))
    seen = await ActivityEnvironment().run(activities.look_for_missed, look)
    return [each.reason for each in seen.missed]


class NoRuns:
    """A client and a handle of it: no worker is waited for."""

    @classmethod
    def get_workflow_handle(cls, _: str) -> type[NoRuns]:
        return cls

    @staticmethod
    async def describe() -> None:
        raise RPCError("no such run", RPCStatusCode.NOT_FOUND, b"")


def _verdicts(occurrences: Any) -> Verdicts:
    return {each.scheduled_at: (each.verdict, each.reason if each.run is None else "") for each in occurrences}


def _counts(occurrences: list[Occurrence]) -> tuple[int, int]:
    return (
        sum(each.verdict in LOST for each in occurrences),
        sum(each.verdict in LEFT_OUT for each in occurrences),
    )
