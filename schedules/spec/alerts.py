"""The spec format's words about when Prometheus is to alert somebody of a job."""

from __future__ import annotations

from datetime import timedelta

from pydantic import Field

from schedules.spec.fields import Duration, Spec


class AlertsSpec(Spec):
    """Thresholds of the alert rules that `tickwright rules` writes; `null` or `false` means no such alert."""

    overdue: Duration | None = Field(
        default=timedelta(minutes=15),
        description="Page when it has not ended this long after it should have: its scheduled time, jitter, and twice the longest of its "
        "last 20 successes.",
    )
    failed: bool = Field(default=True, description="Page when a run failed, until one succeeds.")
    failure_rate: float | None = Field(
        default=0.1, ge=0, lt=1, description="Ticket when more than this part of the runs of 24 hours failed."
    )
    slower: float | None = Field(
        default=2.0, gt=1, description="Warn when a run takes this many times as long as usual (and over 5 s)."
    )
    missed: bool = Field(default=True, description="Warn when a time of the last 24 hours was missed.")
    backlog: int | None = Field(
        default=10, ge=0, description="Warn when more than this many starts wait for a run to end."
    )
    paused: Duration | None = Field(
        default=timedelta(days=7), description="Ticket when it has been paused for longer than this."
    )
