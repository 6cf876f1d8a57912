"""Step calls that are valid by default, and the surroundings to run them in without a server."""

from __future__ import annotations

from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from temporalio.testing import ActivityEnvironment

from activities.contract import RetryRequest, StepCall, StepRequest, StepResult, TimesRequest
from activities.handlers.calls import Calls
from activities.handlers.http import open_session
from activities.handlers.table import Containers, Handlers, Parts
from activities.observe import StepFinished
from activities.registry import HandlerRegistry
from activities.steps.run import StepActivities
from activities.steps.secrets import SecretStore
from activities.steps.sinks import Folder

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping
    from pathlib import Path
    from types import ModuleType

    from activities.observe import StepStarted
    from activities.steps.sinks import Sink


def step_call(
    handler: str = "python",
    params: dict[str, Any] | None = None,
    *,
    timeout: float = 30.0,
    retry: RetryRequest | None = None,
    heartbeat_timeout: float = 30.0,
    timezone: str = "America/New_York",
) -> StepCall:
    """A step of the occurrence of 08:00 New York on 2027-03-01, a Monday."""
    step = StepRequest("run", handler, params or {}, timeout, heartbeat_timeout, retry or RetryRequest(max_attempts=3))
    times = TimesRequest(timezone, calendars=["0 0 8 * * 1-5 *"])
    return StepCall("billing", "production", "invoice-dunning", "2027-03-01T13:00:00Z", times, step, "run-id-1")


def day_before(_times: TimesRequest, when: datetime) -> datetime:
    """An occurrence every 24 hours."""
    return when - timedelta(days=1)


@dataclass
class Bench:
    """Activities with real parts, run in Temporal's test environment; `facts` is what the observer was told."""

    activities: StepActivities
    environment: ActivityEnvironment
    calls: Calls
    facts: list[StepStarted | StepFinished] = field(default_factory=list)
    heartbeats: list[tuple[Any, ...]] = field(default_factory=list)

    @property
    def endings(self) -> list[StepFinished]:
        """The attempts that have ended."""
        return [fact for fact in self.facts if isinstance(fact, StepFinished)]

    @property
    def outcomes(self) -> list[str]:
        """How they ended."""
        return [fact.outcome for fact in self.endings]

    def at_attempt(self, number: int, *, last_heartbeat: Any = None) -> None:
        """The next run is that attempt."""
        details = [] if last_heartbeat is None else [last_heartbeat]
        self.environment.info = replace(self.environment.info, attempt=number, heartbeat_details=details)

    async def run(self, call: StepCall) -> StepResult:
        """One attempt of a step."""
        return await self.environment.run(self.activities.run_step, call)


@asynccontextmanager
async def bench(
    *modules: ModuleType,
    secrets: Mapping[str, str] | None = None,
    secrets_directory: Path | None = None,
    allow_commands: bool = True,
    outputs_dir: Path | None = None,
    outputs: Sink | None = None,
    previous_occurrence: Callable[[TimesRequest, datetime], datetime | None] = day_before,
    containers: Containers | None = None,
    kubernetes_namespaces: tuple[str, ...] = (),
) -> AsyncIterator[Bench]:
    """Step activities with the handlers of `modules` and the secrets given by name."""
    facts: list[StepStarted | StepFinished] = []
    environ = {f"TICKWRIGHT_SECRET_{name}": value for name, value in (secrets or {}).items()}
    session = open_session()
    calls = Calls()
    activities = StepActivities(
        handlers=Handlers(
            Parts(
                HandlerRegistry.from_modules(modules),
                calls,
                lambda: session,
                allow_commands=allow_commands,
                outputs=outputs or (Folder(outputs_dir) if outputs_dir else None),
                containers=containers or Containers(),
                kubernetes_namespaces=kubernetes_namespaces,
            )
        ),
        secrets=SecretStore(environ, secrets_directory),
        previous_occurrence=previous_occurrence,
        observer=facts.append,
    )
    made = Bench(activities, ActivityEnvironment(), calls, facts)
    made.environment.on_heartbeat = lambda *details: made.heartbeats.append(details)
    try:
        yield made
    finally:
        await session.close()
