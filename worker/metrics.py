"""What this worker counts, in Prometheus' conventions."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, PlatformCollector, ProcessCollector

from activities.handlers.calls import Calls
from activities.observe import StepFinished, StepStarted
from worker.slots import Slots

SECONDS = (0.1, 0.5, 1, 5, 15, 60, 300, 900, 3600, 4 * 3600, 12 * 3600)


class WorkerMetrics:
    """Counts attempts of steps; an observer of StepActivities."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        PlatformCollector(registry=self.registry)
        self._running = Gauge("tickwright_attempts_running", "Attempts now.", ["job", "step"], registry=self.registry)
        self._finished = Counter(
            "tickwright_attempts", "Attempts that ended.", ["job", "step", "handler", "outcome"], registry=self.registry
        )
        self._duration = Histogram(
            "tickwright_attempt_duration_seconds",
            "How long attempts took.",
            ["job", "step"],
            buckets=SECONDS,
            registry=self.registry,
        )
        self.backlog = Gauge(
            "tickwright_task_queue_backlog", "Tasks that wait.", ["task_queue", "kind"], registry=self.registry
        )
        self.backlog_age = Gauge(
            "tickwright_task_queue_backlog_age_seconds",
            "For how long the oldest waiting task has waited.",
            ["task_queue", "kind"],
            registry=self.registry,
        )
        self._given_up = Gauge(
            "tickwright_handlers_given_up",
            "Handlers that go on now although their attempt has ended.",
            registry=self.registry,
        )
        self._calls: Calls | None = None
        self.slots = Slots()

    def watch(self, calls: Calls, max_concurrent_steps: int) -> None:
        """Takes the number of handlers that were given up from `calls`; so many steps may run at the same time."""
        self._calls = calls
        self.slots.limit = max_concurrent_steps
        self._given_up.set_function(lambda: self.given_up)

    @property
    def given_up(self) -> int:
        """Handlers that go on now although their attempt has ended."""
        return self._calls.given_up if self._calls else 0

    def __call__(self, fact: StepStarted | StepFinished) -> None:
        """Takes one fact into account."""
        running = self._running.labels(fact.job, fact.step)
        if isinstance(fact, StepStarted):
            running.inc()
            self.slots.take()
            return
        running.dec()
        self.slots.give_back()
        self._finished.labels(fact.job, fact.step, fact.handler, fact.outcome).inc()
        self._duration.labels(fact.job, fact.step).observe(fact.duration)
