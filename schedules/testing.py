"""A namespace's schedules in memory, with the habits of the server, for tests that need no server. Public.

Like the server it keeps what it is given as JSON, shows in List at most ten entries of a field and the newest state late,
takes an update some time after it has accepted it, and drops one that lost a race without a word (or refuses it, as V2 does).
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from activities.contract import HASH_ATTRIBUTE, OWNER_ATTRIBUTE
from schedules.errors import MissingAttributesError, OvertakenError, ServerAwayError, ServerError
from schedules.model import (
    Action,
    Activity,
    DesiredSchedule,
    ListedSchedule,
    ObservedSchedule,
    Policies,
    RuntimeState,
    Times,
    Unsaid,
)
from schedules.plan.fingerprint import ATTRIBUTES, marks
from schedules.plan.listed import cut

TOKEN_BYTES = 8
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Habits:
    """How late things show, counted in calls: the server's own time goes on with every call that anybody makes.

    `v2` is the other scheduler of Temporal: a trigger makes a new version, and an update of an older one is refused.
    """

    list_lag: int = 0
    update_lag: int = 0
    attribute_lag: int = 0
    v2: bool = False


@dataclass(frozen=True, slots=True)
class Fault:
    """A call that fails with a gRPC status; `done` where only its answer got lost, `away` where the server stays away."""

    code: str = "UNAVAILABLE"
    done: bool = False
    away: bool = False

    def error(self, name: str, detail: str) -> ServerError:
        """What the caller gets."""
        return (ServerAwayError if self.away else ServerError)(name, self.code, detail)


@dataclass(slots=True)
class Kept:
    """One schedule as the twin has it; `incarnation` is another one each time that the id is created."""

    id: str
    incarnation: int
    times: Times
    action: Action
    policies: Policies
    state: RuntimeState
    attributes: dict[str, Any]
    version: int = 1
    other: tuple[Unsaid, ...] = ()
    encryption: str = ""
    activity: Activity = field(default_factory=Activity)


@dataclass(frozen=True, slots=True)
class _Later:
    """What the twin will do by itself once its time has come."""

    due: int
    act: Callable[[], None]


class SchedulesInMemory:
    """The port of `schedules.server.port`, and beside it what an operator or another client may do."""

    def __init__(self, habits: Habits | None = None, attributes: Sequence[str] = ATTRIBUTES) -> None:
        """`attributes` are the search attributes that the namespace knows."""
        self.habits = habits or Habits()
        self.kept: dict[str, Kept] = {}
        self.calls: list[str] = []
        self.fault_of: Callable[[str], Fault | None] = lambda _: None
        """Asked at each call, by the name of its method."""
        self._known = set(attributes)
        self._listed: dict[str, ListedSchedule] = {}
        self._later: list[_Later] = []
        self._clock = 0
        self._created = 0

    async def owned(self, owner: str) -> list[ListedSchedule]:
        """See `schedules.server.port`."""
        return await self._call("owned", lambda: self._owned(owner))

    async def describe(self, schedule_id: str) -> ObservedSchedule | None:
        """See `schedules.server.port`."""
        return await self._call("describe", lambda: self.look(schedule_id))

    async def create(self, desired: DesiredSchedule, note: str = "") -> bool:
        """See `schedules.server.port`."""
        return await self._call("create", lambda: self._create(desired, note))

    async def update(self, desired: DesiredSchedule, observed: ObservedSchedule, note: str | None = None) -> None:
        """See `schedules.server.port`."""
        return await self._call("update", lambda: self._accept(desired, observed, note))

    async def delete(self, schedule_id: str) -> None:
        """See `schedules.server.port`."""
        return await self._call("delete", lambda: self.remove(schedule_id))

    async def missing_attributes(self) -> tuple[str, ...]:
        """See `schedules.server.port`."""
        return await self._call(
            "missing_attributes", lambda: tuple(name for name in ATTRIBUTES if name not in self._known)
        )

    async def add_attributes(self, names: Sequence[str]) -> None:
        """See `schedules.server.port`."""
        try:
            return await self._call("add_attributes", lambda: self._known.update(names))
        except ServerError as error:
            raise MissingAttributesError("in memory", names, str(error)) from error

    def look(self, schedule_id: str) -> ObservedSchedule | None:
        """What Describe would show, without being a call."""
        kept = self.kept.get(schedule_id)
        if kept is None:
            return None
        return ObservedSchedule(
            id=kept.id,
            times=kept.times,
            action=kept.action,
            policies=kept.policies,
            state=kept.state,
            version=kept.version.to_bytes(TOKEN_BYTES),
            search_attributes=dict(kept.attributes),
            other=kept.other,
            activity=kept.activity,
            encryption=kept.encryption,
        )

    def put(self, desired: DesiredSchedule, attributes: dict[str, Any] | None = None) -> Kept:
        """Somebody else's schedule; `attributes` are its search attributes."""
        self._created += 1
        kept = Kept(
            desired.id,
            self._created,
            desired.times,
            _as_json(desired.action),
            desired.policies,
            RuntimeState(paused=bool(desired.paused)),
            dict(attributes or {}),
            encryption=desired.encryption,
        )
        self.kept[desired.id] = kept
        self._show(desired.id)
        return kept

    def edit(self, schedule_id: str, **parts: Any) -> None:
        """An edit by hand, at once: `times`, `action`, `policies`, `state`, `other`, `encryption`; the search attributes stay."""
        kept = self.kept[schedule_id]
        for name, value in parts.items():
            setattr(kept, name, value)
        kept.version += 1
        self._show(schedule_id)

    def trigger(self, schedule_id: str) -> None:
        """A run started by hand: it is no part of what anybody compares, and on V1 the version stays."""
        kept = self.kept[schedule_id]
        kept.version += self.habits.v2
        run = f"{schedule_id}-by-hand-{len(kept.activity.running) + 1}"
        kept.activity = replace(kept.activity, running=(*kept.activity.running, run))

    def remove(self, schedule_id: str) -> None:
        """A deletion by whomsoever."""
        self.kept.pop(schedule_id, None)
        self._show(schedule_id)

    def settle(self) -> None:
        """Lets the server's time go on until all that was accepted is done and shown."""
        while self._later:
            self._tick()

    async def _call(self, name: str, act: Callable[[], T]) -> T:
        await asyncio.sleep(0)
        self.calls.append(name)
        self._tick()
        fault = self.fault_of(name)
        if fault and not fault.done:
            raise fault.error(name, "injected, not done")
        answer = act()
        if fault:
            raise fault.error(name, "injected, done")
        return answer

    def _tick(self) -> None:
        self._clock += 1
        due = [later for later in self._later if later.due <= self._clock]
        self._later = [later for later in self._later if later.due > self._clock]
        for later in due:
            later.act()

    def _after(self, calls: int, act: Callable[[], None]) -> None:
        """At once where there is nothing to wait for."""
        if calls:
            self._later.append(_Later(self._clock + calls, act))
        else:
            act()

    def _owned(self, owner: str) -> list[ListedSchedule]:
        if OWNER_ATTRIBUTE not in self._known:
            return []
        return [entry for entry in self._listed.values() if entry.owner == owner]

    def _create(self, desired: DesiredSchedule, note: str) -> bool:
        if desired.id in self.kept:
            return False
        self._refuse_unknown()
        kept = self.put(desired, marks(desired))
        kept.state = replace(kept.state, note=note)
        return True

    def _accept(self, desired: DesiredSchedule, observed: ObservedSchedule, note: str | None) -> None:
        kept = self.kept.get(desired.id)
        if kept is None:
            raise ServerError("update", "NOT_FOUND", "no such schedule")
        self._refuse_unknown()
        if self.habits.v2 and observed.version not in {b"", kept.version.to_bytes(TOKEN_BYTES)}:
            raise OvertakenError("update", "FAILED_PRECONDITION", "mismatched conflict token")
        self._after(self.habits.update_lag, lambda: self._take(kept, desired, observed, note))

    def _take(self, kept: Kept, desired: DesiredSchedule, observed: ObservedSchedule, note: str | None) -> None:
        """The state that it leaves is the one that was seen by whoever sent the update."""
        if self.kept.get(kept.id) is not kept or not _current(observed.version, kept.version):
            return
        state = observed.state if desired.paused is None else replace(observed.state, paused=desired.paused)
        kept.times, kept.action, kept.policies = desired.times, _as_json(desired.action), desired.policies
        kept.state = state if note is None else replace(state, note=note)
        kept.other, kept.encryption = (), desired.encryption
        kept.version += 1
        self._show(kept.id)
        self._after(
            self.habits.attribute_lag, lambda: self._mark(kept, {**observed.search_attributes, **marks(desired)})
        )

    def _mark(self, kept: Kept, attributes: dict[str, Any]) -> None:
        kept.attributes = attributes
        self._show(kept.id)

    def _refuse_unknown(self) -> None:
        for name in (OWNER_ATTRIBUTE, HASH_ATTRIBUTE):
            if name not in self._known:
                raise ServerError("write", "INVALID_ARGUMENT", f"search attribute {name} is not defined")

    def _show(self, schedule_id: str) -> None:
        """Lets List know in a while."""
        kept = self.kept.get(schedule_id)
        entry = _entry(kept) if kept else None
        self._after(self.habits.list_lag, lambda: self._list(schedule_id, entry))

    def _list(self, schedule_id: str, entry: ListedSchedule | None) -> None:
        if entry is None:
            self._listed.pop(schedule_id, None)
        else:
            self._listed[schedule_id] = entry


def _entry(kept: Kept) -> ListedSchedule:
    return ListedSchedule(kept.id, cut(kept.times), kept.action.workflow_type, kept.state.paused, dict(kept.attributes))


def _current(token: bytes, version: int) -> bool:
    """A short token, or one of zeros, is none, and hinders nothing."""
    given = int.from_bytes(token[:TOKEN_BYTES]) if len(token) >= TOKEN_BYTES else 0
    return given in (0, version)


def _as_json(action: Action) -> Action:
    """Arguments come back as JSON keeps them."""
    args, memo = json.loads(json.dumps([action.args, action.memo]))
    return replace(action, args=tuple(args), memo=memo)
