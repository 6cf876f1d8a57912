"""The composition root: settings in, a worker with all its parts out."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import structlog
from temporalio.common import WorkerDeploymentVersion
from temporalio.worker import (
    PollerBehavior,
    PollerBehaviorAutoscaling,
    PollerBehaviorSimpleMaximum,
    Worker,
    WorkerDeploymentConfig,
)
from temporalio.worker.workflow_sandbox import SandboxedWorkflowRunner, SandboxRestrictions

from activities.handlers.calls import Calls
from activities.handlers.session import LateSession
from activities.handlers.table import Handlers
from activities.late.start import LateStartActivities
from activities.notices.current import current_target
from activities.notices.report import ReportActivities
from activities.notices.send import SendActivities
from activities.offer import OfferActivities
from activities.operate import OperateActivities
from activities.reboot import RebootActivities
from activities.steps.fitness import Fitness, OthersFirst
from activities.steps.run import StepActivities
from activities.watchdog.missed import WatchActivities
from schedules.errors import SettingsError
from schedules.server.codec import known_keys
from schedules.server.workers import Workers
from schedules.source.user_modules import find_handlers, import_modules
from schedules.version import __version__
from worker.accounts import accounts_of
from worker.builds import announced
from worker.delivery import Delivery
from worker.health.health import Health, serve_health
from worker.health.polls import Polls
from worker.health.reach import connect_patiently
from worker.metrics.backlog import Backlog
from worker.metrics.metrics import WorkerMetrics
from worker.metrics.run_observer import RunsObserved
from worker.modules import find_activities, find_workflows
from worker.own_secrets import secrets_of
from worker.own_workflows import OWN_WORKFLOWS
from worker.parts import parts_of
from worker.process.lifecycle import poll_until_stopped
from worker.settings import Pollers
from worker.times import CALENDAR, previous_occurrence
from workflows.not_eager import NotEager

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Sequence

    from temporalio.client import Client

    from activities.observe import RunObserver
    from activities.registry import HandlerRegistry
    from worker.metrics.sdk_metrics import SdkMetrics
    from worker.process.lifecycle import Stop
    from worker.settings import WorkerSettings

DEPLOYMENT = "tickwright"
SANDBOX = SandboxedWorkflowRunner(
    restrictions=SandboxRestrictions.default.with_passthrough_modules(
        "activities", "workflows", "pydantic", "structlog"
    )
)
"""For workflows of the user's own: they share with handlers what both import, which is not loaded anew for each run.

Ours run outside of it (`sandboxed=False`) and take a sixth less of the worker's time: a contract of imports keeps clock and chance from them.
"""
OFFER_SECONDS = 3.0
"""That the other workers of a task queue have to say whether they can run a step which this one cannot."""
HEARTBEAT_THROTTLE = timedelta(seconds=5)
"""A step learns of its cancellation by the answer to a heartbeat, and the SDK would hold heartbeats back for up to a minute."""


@dataclass(frozen=True)
class Offer:
    """What the user's modules bring to a worker."""

    handlers: HandlerRegistry
    workflows: list[type[Any]]
    activities: list[Callable[..., Any]]

    @classmethod
    def of(cls, names: Sequence[str]) -> Offer:
        """Imports the modules. Raises SettingsError for one that cannot be used."""
        modules = import_modules(names)
        return cls(find_handlers(modules), find_workflows(modules), find_activities(modules))


async def run_worker(settings: WorkerSettings, offer: Offer, sdk_metrics: SdkMetrics, stop: Stop) -> None:
    """Runs a worker until asked to stop.

    Raises SettingsError before connecting for a token that cannot be used, AddressInUseError, NamespaceError and
    WorkerFailedError.
    """
    guard, metrics = settings.guard, WorkerMetrics()
    metrics.registry.register(sdk_metrics)
    health = health_of(settings, metrics)
    health.polls = Polls(sdk_metrics).trouble
    with beside(sdk_metrics.keep_taking()):
        async with serve_health(health, settings.http_address, guard) as url:
            structlog.get_logger().info("health and metrics", action="http_serving", url=url)
            health.client = await connect_patiently(stop)
            if health.client is None:
                return
            backlog = Backlog(health.client, settings.task_queue, metrics)
            health.remarks = lambda: [metrics.slots.remark(), backlog.remark()]
            async with (
                build_worker(health.client, settings, offer, metrics) as worker,
                announced(health.client, settings.task_queue, build_of(settings)),
            ):
                with beside(backlog.watch(settings.backlog_interval)), beside(health.keep_looking()):
                    await poll_until_stopped(worker, health, stop, settings.drain_timeout)


def health_of(settings: WorkerSettings, metrics: WorkerMetrics) -> Health:
    """Tells `metrics` whether the worker is ready."""

    def burden() -> str:
        return given_up_too_many(metrics.given_up, settings.max_concurrent_steps)

    def tell(ready: bool) -> None:  # noqa: FBT001 - the one thing that is told
        namespace = health.client.namespace if health.client else ""
        metrics.present(namespace, settings.task_queue, build_of(settings), ready=ready)

    health = Health(metrics.registry, burden=burden, tell=tell)
    return health


@contextmanager
def beside(work: Coroutine[Any, Any, None]) -> Iterator[None]:
    """Does `work` while the block runs; a fault of it is logged and stops nothing else."""
    task = asyncio.create_task(work)
    task.add_done_callback(_log_fault)
    try:
        yield
    finally:
        task.cancel()


def _log_fault(task: asyncio.Task[None]) -> None:
    if not task.cancelled() and (error := task.exception()):
        structlog.get_logger().error("work beside the worker ended", action="beside_failed", exc_info=error)


@asynccontextmanager
async def build_worker(
    client: Client, settings: WorkerSettings, offer: Offer, metrics: WorkerMetrics
) -> AsyncIterator[Worker]:
    """A worker that does not poll yet; leaving the context gives back its threads and its HTTP connections."""
    async with LateSession() as session:
        executor, calls = ThreadPoolExecutor(settings.max_concurrent_steps, thread_name_prefix="activity"), Calls()
        metrics.watch(calls, settings.max_concurrent_steps)
        secrets = secrets_of(client, settings)
        handlers = Handlers(parts_of(settings, offer, calls, session))
        fitness = Fitness(handlers, secrets)
        others = OthersFirst(fitness, Workers(client, answer_seconds=OFFER_SECONDS).answers)
        steps = StepActivities(
            handlers=handlers,
            secrets=secrets,
            previous_occurrence=previous_occurrence,
            observer=metrics,
            give_back=others,
        )
        send = SendActivities(secrets, session, client.namespace, settings.ui_url, current_target(client))
        watch = WatchActivities(client, previous_occurrence, accounts_of(client))
        told = OfferActivities(fitness, others, client.identity, known_keys(client.data_converter))
        own = [
            *steps.activities,
            *send.activities,
            *ReportActivities(client).activities,
            watch.look_for_missed,
            *told.activities,
        ]
        try:
            yield _worker(client, settings, offer, own, executor, metrics.count)
        finally:
            executor.shutdown(wait=False, cancel_futures=True)


def _worker(
    client: Client,
    settings: WorkerSettings,
    offer: Offer,
    own: Sequence[Callable[..., Any]],
    executor: ThreadPoolExecutor,
    observer: RunObserver,
) -> Worker:
    reboot = RebootActivities(client)
    late = LateStartActivities(client, CALENDAR)
    operate = OperateActivities(client)
    asked = (operate.look_at_occurrence, operate.ask_for_occurrence, operate.resume_schedule)
    others = (reboot.start_reboot_runs, late.decide_late_start, late.is_scheduled_time, *asked)
    try:
        return Worker(
            client,
            task_queue=settings.task_queue,
            workflows=[*offer.workflows, *OWN_WORKFLOWS],
            activities=[*own, *offer.activities, *others],
            activity_executor=executor,
            interceptors=[Delivery(client), RunsObserved(observer), NotEager()],
            workflow_runner=SANDBOX,
            max_concurrent_activities=settings.max_concurrent_steps,
            max_concurrent_workflow_tasks=settings.max_concurrent_workflow_tasks,
            max_cached_workflows=settings.max_cached_workflows,
            max_concurrent_local_activities=settings.max_concurrent_local_activities,
            max_activities_per_second=settings.max_steps_per_second,
            max_task_queue_activities_per_second=settings.max_queue_steps_per_second,
            workflow_task_poller_behavior=_polling(settings.workflow_pollers),
            activity_task_poller_behavior=_polling(settings.step_pollers),
            max_heartbeat_throttle_interval=HEARTBEAT_THROTTLE,
            graceful_shutdown_timeout=settings.drain_timeout,
            deployment_config=WorkerDeploymentConfig(
                version=WorkerDeploymentVersion(DEPLOYMENT, build_of(settings)),
                use_worker_versioning=False,
            ),
        )
    except (RuntimeError, ValueError) as error:  # Such as a workflow whose imports the SDK's sandbox does not allow.
        reason = f"{error}: {error.__cause__}" if error.__cause__ else str(error)
        raise SettingsError(f"the worker cannot be built from TICKWRIGHT_MODULES and the settings: {reason}") from error


def _polling(pollers: Pollers) -> PollerBehavior:
    return PollerBehaviorSimpleMaximum(pollers) if isinstance(pollers, int) else PollerBehaviorAutoscaling()


def given_up_too_many(count: int, limit: int) -> str:
    """Why a worker is neither ready nor well: its own threads weigh it down. Empty while there are fewer than its steps at a time."""
    return (
        f"{count} handlers still run although their attempts have ended; restart this worker" if count >= limit else ""
    )


def build_of(settings: WorkerSettings) -> str:
    """What Temporal calls this build of the workers."""
    return settings.build_id or __version__
