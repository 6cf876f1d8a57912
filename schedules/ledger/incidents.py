"""The incidents that are open now, of all jobs at once: a page of List for a thousand of them."""

from __future__ import annotations

from datetime import UTC
from typing import TYPE_CHECKING, Any

from temporalio.api.common.v1 import Payloads

from activities.notices.contract import INCIDENT_MEMO, INCIDENT_PREFIX, INCIDENT_WORKFLOW
from activities.occurrence import stamp
from schedules.ledger.decoded import first_value
from schedules.ledger.state import OpenIncident

if TYPE_CHECKING:
    from temporalio.api.workflow.v1 import WorkflowExecutionInfo
    from temporalio.converter import DataConverter

    from schedules.ledger.records import Records


async def open_incidents(records: Records) -> dict[str, OpenIncident]:
    """By job. Raises ServerError."""
    found = await records.executions(f"WorkflowType = '{INCIDENT_WORKFLOW}' AND ExecutionStatus = 'Running'")
    converter = records.client.data_converter
    return {
        each.execution.workflow_id.removeprefix(INCIDENT_PREFIX): await _incident(each, converter) for each in found
    }


async def _incident(info: WorkflowExecutionInfo, converter: DataConverter) -> OpenIncident:
    """Its memo says more than when it began; one of an earlier release, or whose key is missing, has none."""
    memo: Any = None
    if INCIDENT_MEMO in info.memo.fields:
        memo = await first_value(Payloads(payloads=[info.memo.fields[INCIDENT_MEMO]]), converter)
    if not isinstance(memo, dict):
        return OpenIncident(stamp(info.start_time.ToDatetime(tzinfo=UTC)))
    return OpenIncident(str(memo["since"]), int(memo["after"]), tuple(map(str, memo["channels"])))
