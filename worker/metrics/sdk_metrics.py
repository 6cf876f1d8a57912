"""The SDK's own metrics (`temporal_…`) among ours: on the same port, behind the same token."""

from __future__ import annotations

import asyncio
import math
import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NoReturn

from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector
from temporalio.runtime import (
    BUFFERED_METRIC_KIND_COUNTER,
    BUFFERED_METRIC_KIND_HISTOGRAM,
    MetricBuffer,
    MetricBufferDurationFormat,
)

if TYPE_CHECKING:
    from temporalio.runtime import BufferedMetric, BufferedMetricUpdate

BUFFERED = 4_000
"""Updates, which the SDK makes room for at once (0.5 MB). A run makes some sixty of them: enough for 600 runs a second."""
TAKEN_EVERY = 0.1
"""Seconds."""
SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3600, math.inf)
UNKNOWN_SCALE = (math.inf,)
"""Buckets of what is not measured in seconds: its sum and its count."""

Labels = tuple[tuple[str, str], ...]


@dataclass
class Series:
    """One metric under one set of labels; `counts` by bucket, each with those below it not counted in."""

    value: float = 0.0
    counts: list[int] = field(default_factory=list)


class SdkMetrics(Collector):
    """Adds up what the SDK writes into `buffer`, which is to be given to its runtime."""

    def __init__(self) -> None:
        self.buffer = MetricBuffer(BUFFERED, duration_format=MetricBufferDurationFormat.SECONDS)
        self._metrics: dict[str, BufferedMetric] = {}
        self._series: dict[str, dict[Labels, Series]] = {}

    async def keep_taking(self) -> NoReturn:
        """Empties the buffer again and again, lest it be full between two scrapes."""
        while True:
            self.take(self.buffer.retrieve_updates())
            await asyncio.sleep(TAKEN_EVERY)

    def take(self, updates: Iterable[BufferedMetricUpdate]) -> None:
        """Adds these updates up."""
        for update in updates:
            metric = update.metric
            self._metrics.setdefault(metric.name, metric)
            labels = tuple(sorted((name, _text(value)) for name, value in update.attributes.items()))
            series = self._series.setdefault(metric.name, {}).setdefault(labels, Series())
            if metric.kind == BUFFERED_METRIC_KIND_HISTOGRAM:
                bounds = _bounds(metric)
                series.counts = series.counts or [0] * len(bounds)
                series.counts[bisect_left(bounds, update.value)] += 1
            added = metric.kind in {BUFFERED_METRIC_KIND_HISTOGRAM, BUFFERED_METRIC_KIND_COUNTER}
            series.value = series.value + update.value if added else update.value

    def counted(self, name: str) -> Iterator[tuple[dict[str, str], float]]:
        """Labels and values of a counter by now, or how often a histogram was written to."""
        self.take(self.buffer.retrieve_updates())
        for labels, series in self._series.get(name, {}).items():
            yield dict(labels), sum(series.counts) or series.value

    def collect(self) -> Iterator[Metric]:
        """Called by the registry at each scrape."""
        self.take(self.buffer.retrieve_updates())
        for name, metric in self._metrics.items():
            yield _family(metric, self._series[name])


def _family(metric: BufferedMetric, series: dict[Labels, Series]) -> Metric:
    name = _name(metric.name) + ("_seconds" if metric.unit == "s" else "")
    about = metric.description or metric.name
    if metric.kind == BUFFERED_METRIC_KIND_COUNTER:
        return _plain(Metric(name, about, "counter"), "_total", series)
    if metric.kind != BUFFERED_METRIC_KIND_HISTOGRAM:
        return _plain(Metric(name, about, "gauge"), "", series)
    family = Metric(name, about, "histogram")
    for labels, one in series.items():
        shown, below = _labels(labels), 0
        for bound, count in zip(_bounds(metric), one.counts, strict=True):
            below += count
            family.add_sample(f"{name}_bucket", shown | {"le": _bound(bound)}, below)
        family.add_sample(f"{name}_sum", shown, one.value)
        family.add_sample(f"{name}_count", shown, below)
    return family


def _plain(family: Metric, suffix: str, series: dict[Labels, Series]) -> Metric:
    for labels, one in series.items():
        family.add_sample(family.name + suffix, _labels(labels), one.value)
    return family


def _bounds(metric: BufferedMetric) -> tuple[float, ...]:
    return SECONDS if metric.unit == "s" else UNKNOWN_SCALE


def _bound(bound: float) -> str:
    return "+Inf" if bound == math.inf else str(float(bound))


def _labels(labels: Labels) -> dict[str, str]:
    return {_name(name): value for name, value in labels}


def _name(name: str) -> str:
    """A name that Prometheus takes: activities of the user may use the SDK's meter, with names of their own."""
    return re.sub(r"\W|^(?=\d)", "_", name, flags=re.ASCII)


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
