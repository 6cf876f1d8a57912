"""Planning against a live namespace, and applying until done or told to stop."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedules.console.progress import progress
from schedules.cron import next_after
from schedules.cron.reboot import has_mark
from schedules.errors import ServerError
from schedules.plan.plan import USUAL, Applied, make_plan
from schedules.sync.apply import REPLANS, Applier
from schedules.sync.audit import audit_of, write_line
from schedules.sync.observe import observe
from schedules.sync.zone_check import difference, probes

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime

    from schedules.model import DesiredSchedule, ListedSchedule, Times
    from schedules.plan.plan import Plan, Rules
    from schedules.server.gateway import TemporalGateway
    from schedules.server.port import Schedules
    from schedules.sync.audit import Audit


async def plan_sync(
    schedules: Schedules,
    owner: str,
    desired: Mapping[str, DesiredSchedule],
    now: datetime,
    *,
    rules: Rules = USUAL,
    deep: bool = False,
    listed: Sequence[ListedSchedule] | None = None,
) -> Plan:
    """The plan of a sync at `now`; writes nothing. `listed` is what `owned` gave, if it is known. Raises ServerError.

    `deep` describes every schedule, also those that List shows to be in sync.
    """
    if listed is None:
        listed = await schedules.owned(owner)
    found = await observe(schedules, listed, desired, deep=deep)
    absent = desired.keys() - found.schedules.keys() - found.in_sync
    over = frozenset(name for name in absent if _over(desired[name].times, now))
    return make_plan(owner, desired, found.schedules, now, rules=rules, in_sync=found.in_sync, over=over)


def _over(times: Times, now: datetime) -> bool:
    """Whether nothing is left for a schedule to do."""
    return not has_mark(times) and next_after(times, now) is None


async def apply_plan(
    plan: Plan,
    schedules: Schedules,
    stop: asyncio.Event,
    audit: Audit | None = None,
    *,
    replans: int = REPLANS,
    limit: Callable[[], str] = str,
) -> list[Applied]:
    """The fate of every change. Once `stop` is set, those under way finish and no more are begun.

    With an `audit` each write is logged on standard error; without one the notes alone say who it was. `limit` names what
    holds requests back, for who waits.
    """
    if any(change.desired is not None for change in plan.changes):
        missing = await schedules.missing_attributes()
        if missing:
            await schedules.add_attributes(missing)
    with progress(len(plan.changes), limit) as advance:

        def report(applied: Applied) -> None:
            if audit:
                write_line(audit, applied)
            advance()

        return await Applier(plan, schedules, audit or audit_of(()), replans=replans).apply(stop, report)


async def zone_warnings(gateway: TemporalGateway, results: Sequence[Applied], now: datetime) -> list[str]:
    """Where the server's clock changes are not ours, seen in what was just written: one message for each zone."""
    written = [done.change.desired for done in results if done.result == "applied" and done.change.desired]
    told: dict[str, str] = {}
    for probe in probes(written, now):
        if probe.timezone in told:
            continue
        try:
            served = await gateway.matching_times(probe.schedule_id, probe.start, probe.end)
        except ServerError as error:
            if error.code == "NOT_FOUND":  # deleted again by another hand
                continue
            return [*told.values(), f"the tz databases were not compared: {error}"]
        if message := difference(probe, served):
            told[probe.timezone] = message
    return list(told.values())
