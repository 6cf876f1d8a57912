"""Every surface gives an occurrence the same verdict: `runs`, `explain`, `status`, the monitor's metrics and the board."""

from __future__ import annotations

import asyncio
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from hypothesis import Phase, event, example, given, settings

from activities.account.facts import LEFT_OUT, LOST
from activities.occurrence import stamp
from schedules.board.day import Day
from schedules.board.kinds import kind_of
from schedules.board.past import Frame, past
from schedules.board.start_counts import Grid
from schedules.ledger.account import account
from schedules.ledger.explain import explain
from schedules.ledger.overview import overview
from schedules.ledger.selection import Selection
from schedules.monitor.watch import DAY, Watch
from tests.property.job_histories import BEGIN, NOW, World, one_behind_another, worlds

if TYPE_CHECKING:
    from schedules.ledger.occurrences import Occurrence

Verdicts = dict[datetime, tuple[str, str]]


@settings(deadline=None, max_examples=25, phases=[Phase.explicit, Phase.reuse, Phase.generate])
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


def _verdicts(occurrences: Any) -> Verdicts:
    return {each.scheduled_at: (each.verdict, each.reason if each.run is None else "") for each in occurrences}


def _counts(occurrences: list[Occurrence]) -> tuple[int, int]:
    return (
        sum(each.verdict in LOST for each in occurrences),
        sum(each.verdict in LEFT_OUT for each in occurrences),
    )
