"""The incidents that are open now, of all jobs at once: a page of List for a thousand of them."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from temporalio.api.common.v1 import Payloads

from activities.notices.contract import INCIDENT_MEMO, INCIDENT_PREFIX, INCIDENT_WORKFLOW
from activities.occurrence import stamp
from schedules.ledger.decoded import first_value
from schedules.ledger.notices.reading import notices_of
from schedules.ledger.records import gathered
from schedules.ledger.state import OpenIncident

if TYPE_CHECKING:
    from temporalio.api.workflow.v1 import WorkflowExecutionInfo
    from temporalio.converter import DataConverter

    from schedules.ledger.notices.sent import NoticeHistory
    from schedules.ledger.records import Records


MOST_READ = 50
"""Incidents, the newest of them, whose notices are read: two requests for each."""


async def open_incidents(records: Records) -> dict[str, OpenIncident]:
    """By job. Raises ServerError."""
    found = await records.executions(f"WorkflowType = '{INCIDENT_WORKFLOW}' AND ExecutionStatus = 'Running'")
    newest_first = sorted(found, key=lambda each: each.start_time.ToNanoseconds(), reverse=True)
    told = await gathered(
        lambda each: notices_of(records, each.execution.workflow_id, each.execution.run_id), newest_first[:MOST_READ]
    )
    converter = records.client.data_converter
    incidents: dict[str, OpenIncident] = {}
    for each, known in zip_longest(newest_first, told):
        job = each.execution.workflow_id.removeprefix(INCIDENT_PREFIX)
        incidents[job] = _with_notices(await _incident(each, converter), known)
    return incidents


def _with_notices(incident: OpenIncident, told: NoticeHistory | None) -> OpenIncident:
    if told is None or not told.readable:
        return incident
    return replace(incident, sent=tuple(each for each in told.sent if each.since == incident.since))


async def _incident(info: WorkflowExecutionInfo, converter: DataConverter) -> OpenIncident:
    """Its memo says more than when it began; one of an earlier release, or whose key is missing, has none."""
    memo: Any = None
    if INCIDENT_MEMO in info.memo.fields:
        memo = await first_value(Payloads(payloads=[info.memo.fields[INCIDENT_MEMO]]), converter)
    if not isinstance(memo, dict):
        return OpenIncident(stamp(info.start_time.ToDatetime(tzinfo=UTC)))
    return OpenIncident(str(memo["since"]), int(memo["after"]), tuple(map(str, memo["channels"])))
