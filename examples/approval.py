"""A workflow of one's own: it waits for a person, for hours, without keeping a worker busy."""

from __future__ import annotations

from datetime import timedelta

from temporalio import activity, workflow
from temporalio.exceptions import ApplicationError


@activity.defn
def release_payouts(day: str, approved_by: str) -> str:
    """What touches the world is an activity. It may run twice: ask the bank under a key that stays the same."""
    activity.logger.info("released under payouts/%s", day)
    return f"payouts of {day}, approved by {approved_by}"


@workflow.defn
class PayoutApproval:
    """Releases the payouts of a day when somebody has approved them; fails when nobody does within `hours`."""

    def __init__(self) -> None:
        self._approved_by = ""

    @workflow.run
    async def run(self, day: str, hours: int) -> str:
        """The spec's `args`; `day` is filled in from a template."""
        try:
            await workflow.wait_condition(lambda: self._approved_by != "", timeout=timedelta(hours=hours))
        except TimeoutError:
            raise ApplicationError(f"nobody approved the payouts of {day}") from None
        released: str = await workflow.execute_activity(
            release_payouts, args=[day, self._approved_by], start_to_close_timeout=timedelta(minutes=1)
        )
        return released

    @workflow.signal
    def approve(self, name: str) -> None:
        """Sent from the Web UI, or with `temporal workflow signal --name approve`."""
        self._approved_by = name
