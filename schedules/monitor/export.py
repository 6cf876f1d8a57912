"""The figures in Prometheus' conventions."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, PlatformCollector, ProcessCollector
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterator, Sequence

    from prometheus_client import Metric

    from schedules.monitor.declared import Declared
    from schedules.monitor.figures import Figures

LABELS = ("job", "owner")
FIGURES = {
    "expected_next_timestamp_seconds": ("next_at", "When it runs next."),
    "last_start_timestamp_seconds": ("started_at", "When its last run was started."),
    "last_success_timestamp_seconds": ("succeeded_at", "When its last success ended."),
    "last_failure_timestamp_seconds": ("failed_at", "When its last failure ended."),
    "consecutive_failures": ("failures", "Runs in a row that failed."),
    "failure_ratio": (
        "failure_ratio",
        "Failures among the runs that ended in the last 24 hours, the last 200 at most.",
    ),
    "missed": ("missed", "Times of the last 24 hours that should have run and never will, of the last 200."),
    "overlap_skipped": ("overlap_skipped", "Times of the last 24 hours left out by overlap, of the last 200."),
    "buffered": ("buffered", "Starts that wait for a run to end."),
    "running": ("running", "Runs that go on."),
    "stuck_runs": ("stuck", "Runs that do not get on, since their workflow tasks fail again and again."),
    "paused": ("paused", "1 where it is paused."),
    "paused_since_timestamp_seconds": ("paused_at", "Since when it has been paused, or longer."),
    "overdue_seconds": ("overdue", "For how long it is past the time at which it should have ended."),
    "late_seconds": ("late", "For how long it is past the time at which it should have started."),
    "usual_duration_seconds": ("usual", "Median duration of the last 20 successes."),
    "last_duration_seconds": ("last", "Of the run that goes on so far, else of the last success."),
}
DECLARED = {
    "schedule_missing": ("missing", "1 where the spec files have it and the namespace does not."),
    "drift": ("drifted", "1 where a sync would change its schedule."),
    "exact_until_timestamp_seconds": (
        "exact_until",
        "From when on a sync has to compile clock changes and holidays anew.",
    ),
}


@dataclass
class Seen:
    """The figures that are served. `looked_at` is the last look that succeeded; `took` is seconds; `owners` when each was last seen."""

    figures: Sequence[Figures] = ()
    declared: Sequence[Declared] = ()
    looked_at: datetime | None = None
    took: float = 0.0
    failed_looks: int = 0
    unexplained: int = 0
    calls: Counter[str] | dict[str, int] = field(default_factory=dict)
    owners: dict[str, datetime] = field(default_factory=dict)
    namespace: str = ""


class Exporter(Collector):
    """Called by its registry at each scrape."""

    def __init__(self, seen: Seen) -> None:
        self._seen = seen

    @classmethod
    def registry(cls, seen: Seen) -> CollectorRegistry:
        """One with the figures and those of this process."""
        registry = CollectorRegistry()
        ProcessCollector(registry=registry)
        PlatformCollector(registry=registry)
        registry.register(cls(seen))
        return registry

    def collect(self) -> Iterator[Metric]:
        """All there is; what is not known of a job has no sample."""
        for table, rows in ((FIGURES, self._seen.figures), (DECLARED, self._seen.declared)):
            for name, (attribute, about) in table.items():
                yield _family(f"tickwright_job_{name}", about, attribute, rows)
        yield from self._own()

    def _own(self) -> Iterator[Metric]:
        """Metrics of the monitor itself."""
        seen, name = self._seen, "tickwright_monitor"
        at = GaugeMetricFamily(f"{name}_last_look_timestamp_seconds", "When it last saw all jobs.")
        if seen.looked_at:
            at.add_metric([], seen.looked_at.timestamp())
        yield at
        by_owner = GaugeMetricFamily(
            f"{name}_owner_last_look_timestamp_seconds",
            "When it last saw the jobs of an owner.",
            labels=["owner", "namespace"],
        )
        for owner, looked_at in seen.owners.items():
            by_owner.add_metric([owner, seen.namespace], looked_at.timestamp())
        yield by_owner
        yield GaugeMetricFamily(f"{name}_look_duration_seconds", "How long that look took.", seen.took)
        yield GaugeMetricFamily(f"{name}_jobs", "Jobs that it saw.", len(seen.figures))
        yield GaugeMetricFamily(f"{name}_unexplained", "Jobs that it has yet to look at closely.", seen.unexplained)
        yield CounterMetricFamily(f"{name}_failed_looks", "Looks that the server did not answer.", seen.failed_looks)
        calls = CounterMetricFamily(f"{name}_calls", "Calls of the server.", labels=["call"])
        for call, count in seen.calls.items():
            calls.add_metric([call], count)
        yield calls


def _family(name: str, about: str, attribute: str, rows: Sequence[Figures | Declared]) -> GaugeMetricFamily:
    family = GaugeMetricFamily(name, about, labels=LABELS)
    for row in rows:
        if (value := getattr(row, attribute)) is not None:
            family.add_metric((row.job, row.owner), _number(value))
    return family


def _number(value: float | datetime | timedelta) -> float:
    if isinstance(value, datetime):
        return value.timestamp()
    return value.total_seconds() if isinstance(value, timedelta) else float(value)
