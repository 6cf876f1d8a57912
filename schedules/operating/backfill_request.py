"""The request of a backfill, from the job and the times. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from activities.contract import BackfillProgress, BackfillRequest

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from schedules.ledger.facts import Job


def request_for(
    job: Job,
    times: Sequence[str],
    *,
    interval: float = 0.0,
    rerun: str = "",
    params: Mapping[str, dict[str, Any]] | None = None,
) -> BackfillRequest:
    """The request for these times; with `rerun`, for a repetition on purpose."""
    return BackfillRequest(
        schedule=job.name,
        prefix=job.prefix,
        times=list(times),
        side_by_side=job.overlap == "allow_all",
        interval=interval,
        rerun=rerun,
        params=dict(params or {}),
        so_far=BackfillProgress(total=len(times)),
        late_after=job.catchup.late_after if job.catchup else None,
    )
