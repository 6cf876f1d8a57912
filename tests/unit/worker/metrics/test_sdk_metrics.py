"""Adding up what the SDK tells."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from prometheus_client import CollectorRegistry, generate_latest
from temporalio.runtime import (
    BUFFERED_METRIC_KIND_COUNTER,
    BUFFERED_METRIC_KIND_GAUGE,
    BUFFERED_METRIC_KIND_HISTOGRAM,
    BufferedMetricKind,
)

from worker.metrics.sdk_metrics import SdkMetrics


@dataclass(frozen=True)
class OfSdk:
    """A metric as the SDK describes it."""

    name: str
    kind: BufferedMetricKind
    unit: str | None = None
    description: str | None = None


@dataclass(frozen=True)
class Told:
    """An update as the SDK gives it."""

    metric: OfSdk
    value: float
    attributes: Mapping[str, Any] = field(default_factory=dict)


class Page(SdkMetrics):
    """Takes what a test gives; there is no runtime that would fill the buffer."""

    def __init__(self, *updates: Told) -> None:
        super().__init__()
        self.buffer.retrieve_updates = lambda: ()  # type: ignore[method-assign]  # nothing comes from the SDK here
        self.take(updates)

    def lines(self) -> list[str]:
        registry = CollectorRegistry()
        registry.register(self)
        return [line for line in generate_latest(registry).decode().splitlines() if not line.startswith("# HELP")]


def test_counters_add_up_by_their_labels() -> None:
    calls = OfSdk("temporal_request", BUFFERED_METRIC_KIND_COUNTER)
    page = Page(
        Told(calls, 1, {"operation": "A", "eager": True}),
        Told(calls, 2, {"eager": True, "operation": "A"}),
        Told(calls, 4, {"operation": "B", "eager": False}),
    )
    assert page.lines() == [
        "# TYPE temporal_request_total counter",
        'temporal_request_total{eager="true",operation="A"} 3.0',
        'temporal_request_total{eager="false",operation="B"} 4.0',
    ]


def test_a_gauge_has_its_last_value() -> None:
    pollers = OfSdk("temporal_num_pollers", BUFFERED_METRIC_KIND_GAUGE)
    assert Page(Told(pollers, 5), Told(pollers, 3)).lines() == [
        "# TYPE temporal_num_pollers gauge",
        "temporal_num_pollers 3.0",
    ]


def test_durations_are_histograms_in_seconds_whose_buckets_hold_those_below_them() -> None:
    latency = OfSdk("temporal_latency", BUFFERED_METRIC_KIND_HISTOGRAM, "s")
    lines = Page(*(Told(latency, value) for value in (0.005, 0.006, 4000.0))).lines()
    assert lines[0] == "# TYPE temporal_latency_seconds histogram"
    assert lines[1:3] == [
        'temporal_latency_seconds_bucket{le="0.005"} 1.0',
        'temporal_latency_seconds_bucket{le="0.01"} 2.0',
    ]
    assert lines[-4:] == [
        'temporal_latency_seconds_bucket{le="3600.0"} 2.0',
        'temporal_latency_seconds_bucket{le="+Inf"} 3.0',
        "temporal_latency_seconds_sum 4000.011",
        "temporal_latency_seconds_count 3.0",
    ]


def test_a_histogram_of_unknown_scale_has_its_sum_and_count() -> None:
    size = OfSdk("rows", BUFFERED_METRIC_KIND_HISTOGRAM)
    assert Page(Told(size, 7), Told(size, 5)).lines() == [
        "# TYPE rows histogram",
        'rows_bucket{le="+Inf"} 2.0',
        "rows_sum 12.0",
        "rows_count 2.0",
    ]


def test_names_that_prometheus_does_not_take_are_made_to_fit() -> None:
    odd = OfSdk("2 kinds-of rows", BUFFERED_METRIC_KIND_GAUGE)
    assert Page(Told(odd, 1, {"the table": 'a "b"\n'})).lines()[1] == '_2_kinds_of_rows{the_table="a \\"b\\"\\n"} 1.0'
