"""The address of a notice as the job's schedule has it now: a notice that nobody takes is tried for a day, and specs are mended meanwhile."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from temporalio.converter import value_to_type
from temporalio.exceptions import TemporalError

from activities.contract import JOB_WORKFLOW
from activities.notices.contract import AlertRequest, Delivery, Target

if TYPE_CHECKING:
    from temporalio.client import Client, ScheduleDescription

FindTarget = Callable[[Delivery], Awaitable[Target]]


async def as_posted(delivery: Delivery) -> Target:
    """The target that the notice was posted with."""
    return delivery.target


def current_target(client: Client) -> FindTarget:
    """Finds the target of the same channel in the job's schedule; the one posted where there is none, or it cannot be read."""

    async def find(delivery: Delivery) -> Target:
        if delivery.notice.event in {"missed", "test"}:
            return delivery.target
        try:
            schedule = await client.get_schedule_handle(delivery.notice.job).describe()
            alerts = await alert_request(client, schedule)
        except (TemporalError, TypeError, ValueError):
            return delivery.target
        return _of_channel(delivery, alerts) if alerts else delivery.target

    return find


async def alert_request(client: Client, schedule: ScheduleDescription) -> AlertRequest | None:
    """Who is told of the job, by what its schedule gives to each run; None for nobody, and for a workflow that is none of ours."""
    action: Any = schedule.schedule.action
    if action.workflow != JOB_WORKFLOW:
        return None
    [request, *_] = await client.data_converter.decode(action.args)
    alerts = request.get("alerts")
    return None if alerts is None else value_to_type(AlertRequest, alerts)


def _of_channel(delivery: Delivery, alerts: AlertRequest) -> Target:
    """A channel may have several addresses: the key of a notice ends with the channel, and with the address's number from 2 on."""
    other = delivery.notice.event == "recovery" and alerts.on_recovery is not None
    targets = (alerts.on_recovery or []) if other else alerts.on_failure
    same = [target for target in targets if target.channel == delivery.target.channel]
    last = delivery.key.rpartition("/")[2]
    place = int(last) - 1 if last != delivery.target.channel and last.isdecimal() else 0
    return same[place] if place < len(same) else delivery.target
