"""What this worker can run, for those who are about to give it work."""

from __future__ import annotations

from typing import TYPE_CHECKING

from temporalio import activity

from activities.contract import DESCRIBE_OFFER, WorkerOffer

if TYPE_CHECKING:
    from collections.abc import Iterable


class OfferActivities:
    """Answers with the names that it was given."""

    def __init__(self, handlers: Iterable[str], workflows: Iterable[str], keys: Iterable[str] = ()) -> None:
        self._offer = WorkerOffer(sorted(handlers), sorted(workflows), sorted(keys))

    @activity.defn(name=DESCRIBE_OFFER)
    async def describe_offer(self) -> WorkerOffer:
        """The offer."""
        return self._offer
