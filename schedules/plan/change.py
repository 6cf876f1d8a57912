"""One change of a plan: a schedule is created, updated or deleted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal, TypeAlias

from pydantic import Discriminator

from schedules.model import DesiredSchedule, ObservedSchedule
from schedules.plan.consequences import NOTHING, Consequences
from schedules.plan.differences import FieldDiff

Verb = Literal["create", "update", "delete"]


@dataclass(frozen=True, slots=True)
class Create:
    """A schedule that is desired and does not exist."""

    desired: DesiredSchedule
    consequences: Consequences = NOTHING
    verb: Literal["create"] = "create"
    observed: ClassVar[None] = None
    diff: ClassVar[tuple[FieldDiff, ...]] = ()
    conflict: ClassVar[str] = ""

    @property
    def job(self) -> str:
        """The id of the schedule."""
        return self.desired.id


@dataclass(frozen=True, slots=True)
class Update:
    """A schedule that exists and differs from what is desired."""

    desired: DesiredSchedule
    observed: ObservedSchedule
    diff: tuple[FieldDiff, ...] = ()
    #: Why it must not be made; empty where nothing stands against it.
    conflict: str = ""
    consequences: Consequences = NOTHING
    verb: Literal["update"] = "update"

    @property
    def job(self) -> str:
        """The id of the schedule."""
        return self.desired.id


@dataclass(frozen=True, slots=True)
class Delete:
    """A schedule of the owner that is no longer desired."""

    observed: ObservedSchedule
    consequences: Consequences = NOTHING
    verb: Literal["delete"] = "delete"
    desired: ClassVar[None] = None
    diff: ClassVar[tuple[FieldDiff, ...]] = ()
    conflict: ClassVar[str] = ""

    @property
    def job(self) -> str:
        """The id of the schedule."""
        return self.observed.id


Change: TypeAlias = Annotated[Create | Update | Delete, Discriminator("verb")]
