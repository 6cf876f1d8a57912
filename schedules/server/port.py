"""The port for planning and applying: a namespace's schedules as the gateway has them, or their twin in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from schedules.model import DesiredSchedule, ListedSchedule, ObservedSchedule


class Schedules(Protocol):
    """The schedules of one namespace. Every method raises ServerError for what the server refuses."""

    async def owned(self, owner: str) -> list[ListedSchedule]:
        """Those with the owner's mark, as far as List knows: the newest may be missing, the last edits not shown yet."""

    async def describe(self, schedule_id: str) -> ObservedSchedule | None:
        """The schedule as it is now; None where there is none."""

    async def create(self, desired: DesiredSchedule, note: str = "") -> bool:
        """False, and nothing is done, where the id is taken."""

    async def update(self, desired: DesiredSchedule, observed: ObservedSchedule, note: str | None = None) -> None:
        """Keeps pause (unless desired), remaining actions and, without a `note`, the note.

        Taken some time later, and dropped silently where `observed` is no longer the newest version; or, on Temporal's V2
        scheduler, taken at once, and OvertakenError raised.
        """

    async def delete(self, schedule_id: str) -> None:
        """Gone afterwards; no error where it is gone already."""

    async def missing_attributes(self) -> tuple[str, ...]:
        """Our search attributes that the namespace does not know. Raises AttributeTypeError for one that is of another type."""

    async def add_attributes(self, names: Sequence[str]) -> None:
        """Registers search attributes. Raises MissingAttributesError where the server does not let us."""
