"""Carrying a plan out: a few changes at a time, none hiding or stopping another, each planned again when it loses a race."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import TYPE_CHECKING, assert_never

from schedules.errors import NOT_TRIED, OvertakenError, ServerAwayError, ServerError, TickwrightError
from schedules.notes import may_overwrite
from schedules.plan.change import Change, Create, Delete, Update
from schedules.plan.differences import differences
from schedules.plan.plan import Applied, plan_one

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from schedules.model import DesiredSchedule, ObservedSchedule
    from schedules.plan.plan import Plan
    from schedules.server.port import Schedules
    from schedules.sync.audit import Audit

CONCURRENCY = 10
REPLANS = 3
OVERTAKEN = 5
"""Attempts at an update that others overtake without a change of the schedule: by triggers and backfills."""
READ_BACK_WAITS = (0.02, 0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2)
"""Seconds between looks at an update that the server takes in the background."""
WRITES = frozenset({"create", "update", "delete"})
LATE = frozenset({"owner", "fingerprint"})
"""Search attributes: the server shows them a moment after the rest of the same update."""


class LostRaceError(Exception):
    """The schedule is not what the change was planned for; `now` is what it is."""

    def __init__(self, now: ObservedSchedule | None) -> None:
        super().__init__()
        self.now = now


class Applier:
    """Makes the changes of one plan. `replans` is how often a change that lost a race is planned again, at the most."""

    def __init__(
        self,
        plan: Plan,
        schedules: Schedules,
        audit: Audit,
        *,
        replans: int = REPLANS,
        read_back_waits: Sequence[float] = READ_BACK_WAITS,
    ) -> None:
        self._plan = plan
        self._schedules = schedules
        self._audit = audit
        self._replans = replans
        self._read_back_waits = read_back_waits
        self._away = False

    async def apply(self, stop: asyncio.Event, report: Callable[[Applied], None]) -> list[Applied]:
        """The fate of every change, in the order given. Once `stop` is set no further change is begun.

        Nor is one begun once the server has stayed away from another: ten thousand would wait for it one after another.
        """
        limit = asyncio.Semaphore(CONCURRENCY)

        async def one(change: Change) -> Applied:
            async with limit:
                if stop.is_set():
                    return Applied(change, "planned")
                if self._away:
                    return Applied(change, "failed", NOT_TRIED)
                applied = await self._settle(change)
                report(applied)
                return applied

        return await asyncio.gather(*map(one, self._plan.changes))

    async def _settle(self, change: Change) -> Applied:
        """Makes a change, or the one that the schedule's newest state asks for instead."""
        replans = 0
        while not change.conflict:
            try:
                await self._make(change)
            except LostRaceError as race:
                if replans == self._replans:
                    return Applied(change, "failed", _overtaken(change, replans))
                again = plan_one(self._plan.owner, change.desired, race.now, self._plan.rules)
                if again is None:
                    return Applied(change, "unchanged")
                change, replans = again, replans + 1
            except ServerAwayError as away:
                self._away = True
                return Applied(change, "failed", f"{away}{_may_be_made(away.what)}")
            except TickwrightError as refused:
                return Applied(change, "failed", str(refused))
            else:
                return Applied(change, "applied")
        return Applied(change, "failed", change.conflict)

    async def _make(self, change: Change) -> None:
        """Raises LostRaceError, and TickwrightError for what the server refuses."""
        match change:
            case Create():
                if not await self._schedules.create(change.desired, self._note("created")):
                    raise LostRaceError(await self._schedules.describe(change.job))
            case Update():
                await self._update(change.desired, change.observed)
            case Delete():
                await self._delete(change)
            case _:
                assert_never(change)

    async def _update(self, desired: DesiredSchedule, observed: ObservedSchedule) -> None:
        for _ in range(OVERTAKEN):
            if await self._try_update(desired, await self._look_again(observed)):
                return
        raise LostRaceError(await self._schedules.describe(desired.id))

    async def _try_update(self, desired: DesiredSchedule, now: ObservedSchedule) -> bool:
        """False where the schedule has a new version by now. Raises LostRaceError."""
        note = self._note("updated") if may_overwrite(now.state.note) else None
        try:
            await self._schedules.update(desired, now, note)
        except OvertakenError:
            after = await self._look_back(desired.id)
            return after is not None and not differences(
                desired, after
            )  # by itself: its answer was lost, and it was sent again
        except ServerError as error:
            if error.code == "NOT_FOUND":
                raise LostRaceError(None) from error
            raise
        await self._read_back(desired, now)
        return True

    async def _look_again(self, observed: ObservedSchedule) -> ObservedSchedule:
        """The schedule with the conflict token of now. Raises LostRaceError where the plan saw another schedule than there is.

        The conflict token alone does not tell: the server counts from 1 for each schedule, so that one which was deleted and
        made anew since the plan has the token of the old one again.
        """
        now = await self._schedules.describe(observed.id)
        if now != observed or now.activity.created_at != observed.activity.created_at:
            raise LostRaceError(now)
        return now

    async def _delete(self, change: Delete) -> None:
        """Deletes what still belongs to the owner: somebody may have taken it over since the plan was made."""
        now = await self._schedules.describe(change.job)
        if now is None:
            return
        if now.owner != self._plan.owner:
            raise LostRaceError(now)
        await self._schedules.delete(change.job)

    async def _read_back(self, desired: DesiredSchedule, before: ObservedSchedule) -> None:
        """Waits until the server shows what was written: it drops an update that lost a race, and says nothing."""
        now: ObservedSchedule | None = before
        for wait in self._read_back_waits:
            now = await self._look_back(desired.id)
            if now is None:
                break
            diff = differences(desired, now)
            if not diff:
                return
            if now.version != before.version and not {item.field for item in diff} <= LATE:
                break
            await asyncio.sleep(wait)
        raise LostRaceError(now)

    async def _look_back(self, schedule_id: str) -> ObservedSchedule | None:
        try:
            return await self._schedules.describe(schedule_id)
        except ServerAwayError as error:
            raise ServerAwayError("update", error.code, error.detail) from error

    def _note(self, verb: str) -> str:
        return self._audit.note(verb, datetime.now(UTC))


def _may_be_made(what: str) -> str:
    """Nothing that may be half done goes without a word."""
    return "; it may have been done all the same, and the next sync checks that" if what in WRITES else ""


def _overtaken(change: Change, replans: int) -> str:
    times = f"; it was planned again {replans} times" if replans else ""
    return f"somebody else changed {change.job} at the same time{times}; run the sync again"
