"""Desired × observed → a plan: a value that says what would change, with what consequences, and knows its own danger."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Literal

from activities.notices.contract import WATCHDOG_WORKFLOW
from schedules.errors import UnsafePlanError
from schedules.model import DesiredSchedule, ObservedSchedule
from schedules.plan.change import Change, Create, Delete, Update, Verb
from schedules.plan.consequences import consequences
from schedules.plan.differences import differences

if TYPE_CHECKING:
    from schedules.model import DesiredSchedule, ObservedSchedule

DELETE_COUNT = 10
DELETE_SHARE = 0.3
"""More deletions than this count that are also more than this share of what is owned need the user's word."""


@dataclass(frozen=True, slots=True)
class Rules:
    """The user's permissions: `prune` deletes what is owned and no longer desired, `adopt` takes over what others own."""

    prune: bool = True
    adopt: bool = False


USUAL = Rules()


@dataclass(frozen=True, slots=True)
class Plan:
    """All changes of one owner, by job name; `owned` counts what the owner has on the server now.

    `over` names the jobs that have no schedule and get none, since no time of theirs is left.
    """

    owner: str
    changes: tuple[Change, ...]
    unchanged: int
    owned: int
    rules: Rules = USUAL
    over: tuple[str, ...] = ()

    def count(self, verb: Verb) -> int:
        """The number of changes of a kind, without those that are refused."""
        return Counter(change.verb for change in self.changes if not change.conflict)[verb]

    @property
    def refused(self) -> int:
        """The number of changes that another owner's schedule stands in the way of."""
        return sum(bool(change.conflict) for change in self.changes)

    def raise_if_unsafe(self, max_delete: int | None) -> None:
        """Raises UnsafePlanError where more would be deleted than a slip of the hand should be able to.

        Watchdogs do not count: they are made and deleted with the jobs that they look after.
        """
        deletions = sum(isinstance(change, Delete) and not _is_watchdog(change.observed) for change in self.changes)
        if max_delete is not None:
            if deletions > max_delete:
                raise UnsafePlanError(self.owner, deletions, self.owned)
        elif deletions > DELETE_COUNT and deletions > DELETE_SHARE * self.owned:
            raise UnsafePlanError(self.owner, deletions, self.owned)


def make_plan(
    owner: str,
    desired: Mapping[str, DesiredSchedule],
    observed: Mapping[str, ObservedSchedule],
    now: datetime,
    *,
    rules: Rules = USUAL,
    in_sync: frozenset[str] = frozenset(),
    over: frozenset[str] = frozenset(),
) -> Plan:
    """The plan that makes `observed` (by id: all that is desired or owned, and exists) like `desired`, as seen at `now`.

    `in_sync` names jobs that were found in sync without being described. `over` names jobs with nothing left to do:
    the server drops such a schedule after a while, and it is not made again.
    """
    changes = [
        with_consequences(change, now)
        for job in sorted((desired.keys() | observed.keys()) - in_sync)
        if not (job in over and job not in observed)
        and (change := plan_one(owner, desired.get(job), observed.get(job), rules))
    ]
    owned = sum(schedule.owner == owner for schedule in observed.values()) + len(in_sync)
    touched = sum(change.desired is not None for change in changes)
    past = tuple(sorted(over - observed.keys()))
    return Plan(owner, tuple(changes), len(desired) - touched - len(past), owned, rules, past)


def plan_one(
    owner: str, desired: DesiredSchedule | None, observed: ObservedSchedule | None, rules: Rules
) -> Change | None:
    """The change that one schedule needs, None for none."""
    if desired is None:
        doomed = observed is not None and observed.owner == owner and (rules.prune or _is_watchdog(observed))
        return Delete(observed) if doomed and observed else None
    if observed is None:
        return Create(desired)
    diff = differences(desired, observed)
    if not diff:
        return None
    conflict = ""
    if observed.owner != owner and not rules.adopt:
        conflict = _held(owner, observed.owner)
    elif observed.owner == owner and observed.unreadable:
        conflict = f"{observed.unreadable}; or, if the key is lost, delete the schedule and sync again"
    return Update(desired, observed, diff, conflict)


def _held(owner: str, holder: str | None) -> str:
    """Why a name that another owner has cannot be taken, and what to do."""
    project, _, environment = owner.partition("/")
    if holder and holder.partition("/")[0] == project:
        return (
            f"the name belongs to {holder}: each environment needs a namespace of its own, or a prefix of its names, as in "
            f'`environments: {{{environment}: {{name_prefix: "{environment[:3]}-"}}}}`'
        )
    belongs = f"belongs to {holder}" if holder else "belongs to no project"
    return f"a schedule of this name {belongs}; rename the job, or take it over with --adopt"


def _is_watchdog(observed: ObservedSchedule) -> bool:
    return observed.action.workflow_type == WATCHDOG_WORKFLOW


def with_consequences(change: Change, now: datetime) -> Change:
    """The change, with what follows from making it at `now`."""
    fields = frozenset(item.field for item in change.diff)
    return replace(change, consequences=consequences(change.desired, change.observed, fields, now))


Result = Literal["applied", "planned", "failed", "unchanged"]


@dataclass(frozen=True, slots=True)
class Applied:
    """The result of one change; `unchanged` where it turned out not to be needed any more."""

    change: Change
    result: Result
    error: str = ""
