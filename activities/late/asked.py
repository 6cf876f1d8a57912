"""Whether the backfill of a job has asked for a run that started late."""

from __future__ import annotations

from typing import TYPE_CHECKING

from temporalio.service import RPCError, RPCStatusCode

from activities.account.reading import RPC_TIMEOUT
from activities.contract import ASKED_MEMO, BACKFILL_PREFIX, REPEAT_MEMO, Repeat

if TYPE_CHECKING:
    from temporalio.client import Client

    from activities.contract import LateStart


async def asked_for(client: Client, late: LateStart) -> tuple[bool, Repeat | None]:
    """Whether it has asked for this very run, which it says before it asks the schedule, and as which repetition. Raises RPCError."""
    backfill = client.get_workflow_handle(BACKFILL_PREFIX + late.schedule)
    try:
        described = await backfill.describe(rpc_timeout=RPC_TIMEOUT)
    except RPCError as error:
        if error.status == RPCStatusCode.NOT_FOUND:
            return False, None
        raise
    memo = await described.memo()
    if late.scheduled_at not in memo.get(ASKED_MEMO, []):
        return False, None
    repeat = memo.get(REPEAT_MEMO)
    return True, Repeat(**repeat) if repeat else None
