"""Metrics of this worker, in Prometheus' conventions."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, PlatformCollector, ProcessCollector

from activities.handlers.calls import Calls
from activities.observe import RunEnded, StepEnded, StepFinished, StepStarted
from worker.metrics.slots import Slots

SECONDS = (0.1, 0.5, 1, 5, 15, 60, 300, 900, 3600, 4 * 3600, 12 * 3600)
MOST_KINDS, LONGEST_KIND = 50, 100
"""Kinds of errors that are told apart, and the length of their names: a handler may make up as many as it likes."""


class WorkerMetrics:
    """Counts attempts of steps, as an observer of StepActivities, and runs, whose workflows call `count`."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        PlatformCollector(registry=self.registry)
        self._running = Gauge("tickwright_attempts_running", "Attempts now.", ["job", "step"], registry=self.registry)
        self._finished = Counter(
            "tickwright_attempts", "Attempts that ended.", ["job", "step", "handler", "outcome"], registry=self.registry
        )
        self._duration = self._histogram("tickwright_attempt_duration", "How long attempts took.", "job", "step")
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
        self._of_runs()
        self._kinds: set[str] = set()
        self._calls: Calls | None = None
        self.slots = Slots()

    def _of_runs(self) -> None:
        self._runs = Counter("tickwright_runs", "Runs that ended.", ["job", "outcome"], registry=self.registry)
        self._errors = Counter(
            "tickwright_handler_errors", "Attempts that failed.", ["job", "step", "type"], registry=self.registry
        )
        self._run_duration = self._histogram("tickwright_run_duration", "How long runs took.", "job")
        self._lateness = self._histogram("tickwright_run_lateness", "How late runs were started by a worker.", "job")
        self._step_duration = self._histogram(
            "tickwright_step_duration", "How long steps took, with all their attempts.", "job", "step"
        )
        self._worker = Gauge(
            "tickwright_worker_info",
            "1: such a worker is ready.",
            ["namespace", "task_queue", "build_id"],
            registry=self.registry,
        )

    def _histogram(self, name: str, about: str, *labels: str) -> Histogram:
        return Histogram(f"{name}_seconds", about, labels, buckets=SECONDS, registry=self.registry)

    def present(self, namespace: str, task_queue: str, build_id: str, *, ready: bool) -> None:
        """Says that this worker is there, for as long as it is ready: who cannot get work does not count."""
        if ready:
            self._worker.labels(namespace, task_queue, build_id).set(1)
        else:
            self._worker.clear()

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
        if fact.kind:
            self._errors.labels(fact.job, fact.step, self._kind(fact.kind)).inc()

    def count(self, fact: StepEnded | RunEnded) -> None:
        """Takes the end of a run or of one of its steps into account; called in any thread."""
        if isinstance(fact, StepEnded):
            self._step_duration.labels(fact.job, fact.step).observe(fact.duration)
            return
        self._runs.labels(fact.job, fact.outcome).inc()
        self._run_duration.labels(fact.job).observe(fact.duration)
        self._lateness.labels(fact.job).observe(max(fact.lateness, 0.0))

    def _kind(self, kind: str) -> str:
        """Itself while there are few."""
        kind = kind[:LONGEST_KIND]
        if kind not in self._kinds and len(self._kinds) >= MOST_KINDS:
            return "other"
        self._kinds.add(kind)
        return kind
