"""Notices on their way: each address gets them one after the other, in the order in which they were posted."""

from __future__ import annotations

import asyncio
from collections import Counter
from datetime import timedelta
from typing import TYPE_CHECKING

from temporalio import workflow
from temporalio.common import RetryPolicy
from temporalio.exceptions import ActivityError, FailureError

with workflow.unsafe.imports_passed_through():
    from activities.notices.contract import SEND_NOTICE, Delivery

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from activities.notices.contract import Notice, Target

ONE_ATTEMPT = timedelta(seconds=30)
GIVEN_UP = timedelta(days=1)
FIRST_WAIT, LONGEST_WAIT = timedelta(seconds=2), timedelta(minutes=10)


class Outbox:
    """Sends until the address has taken the notice, for a day at the most; `attempts` 0 is no limit within that."""

    def __init__(self, attempts: int = 0) -> None:
        self._attempts = attempts
        self._last: dict[str, asyncio.Task[str]] = {}

    @property
    def idle(self) -> bool:
        """Whether nothing is on its way."""
        return all(task.done() for task in self._last.values())

    def post(self, notice: Notice, targets: Sequence[Target], key: str) -> list[asyncio.Task[str]]:
        """Begins to send; each task ends with why an address did not take the notice, empty if it did."""
        for address, target in addresses(targets):
            sending = self._send(self._last.get(address), Delivery(notice, target, f"{key}/{address}"), address)
            self._last[address] = asyncio.create_task(sending)
        return [self._last[address] for address, _ in addresses(targets)]

    async def _send(self, before: asyncio.Task[str] | None, delivery: Delivery, address: str) -> str:
        if before is not None:
            await before
        try:
            await workflow.execute_activity(
                SEND_NOTICE,
                delivery,
                start_to_close_timeout=ONE_ATTEMPT,
                schedule_to_close_timeout=GIVEN_UP,
                retry_policy=RetryPolicy(
                    initial_interval=FIRST_WAIT, maximum_interval=LONGEST_WAIT, maximum_attempts=self._attempts
                ),
                summary=f"{delivery.notice.event}: {address}",
            )
        except ActivityError as error:
            reason = error.cause.message if isinstance(error.cause, FailureError) else str(error)
            workflow.logger.warning("notice given up: %s: %s", delivery.key, reason)
            return reason
        return ""


def addresses(targets: Sequence[Target]) -> Iterator[tuple[str, Target]]:
    """Each target with a name of its own: its channel's, with a number where that has several."""
    count: Counter[str] = Counter()
    for target in targets:
        count[target.channel] += 1
        number = count[target.channel]
        yield target.channel if number == 1 else f"{target.channel}/{number}", target
