"""The kit itself: a test server, and jobs that are run on it."""

from __future__ import annotations

from contextlib import contextmanager
from datetime import UTC, datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Self
from uuid import uuid4

from activities.steps.template import secrets_used
from worker.app import Offer
from worker.modules import type_name
from worker.testkit.errors import KitError
from worker.testkit.faults import FaultPlan
from worker.testkit.outcome import Occurrences
from worker.testkit.request import all_steps, request_of
from worker.testkit.run import SpanRun
from worker.testkit.server import Clock, TestServer
from worker.testkit.span import find_span
from worker.testkit.stand_ins import StandIns
from worker.testkit.worker import kit_worker

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from temporalio.client import Client

    from activities.contract import JobRequest, StepRequest
    from activities.registry import HandlerRegistry
    from worker.testkit.faults import Fault
    from worker.testkit.moments import Moment
    from worker.testkit.span import Span, Specs
    from worker.testkit.stand_ins import StandIn


class TestKit:
    """Runs jobs on a time-skipping server of its own, which starts with the first run; `close` ends it."""

    __test__ = False  # for pytest, to which the name looks like a class of tests

    def __init__(self) -> None:
        self._server: TestServer | None = None
        self._running = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exc: object) -> None:
        self.close()

    def close(self) -> None:
        """Ends the server, if one was started."""
        if self._server is not None:
            self._server.stop()
            self._server = None

    async def run(
        self,
        specs: Specs,
        *,
        start: Moment,
        end: Moment | None = None,
        job: str | None = None,
        env: str | None = None,
        modules: Sequence[str] = (),
        http: StandIn | None = None,
        command: StandIn | None = None,
        python: StandIn | None = None,
        workflow: StandIn | None = None,
        steps: Mapping[str, StandIn] | None = None,
        faults: Iterable[Fault] = (),
        secrets: Mapping[str, str] | None = None,
        allow_commands: bool = False,
        allow_hosts: Collection[str] = (),
    ) -> Occurrences:
        """Every occurrence of a job from `start` to before `end`, run to its end with all its attempts and waits.

        `specs` are paths as the commands take them, or a JobSpec; `job` may be left out where there is one; `env` is
        `--env`. `start` and `end` are local dates or times of the job's zone; without `end`, the day of `start`.
        `modules` hold handlers and workflows. `http`, `command`, `python` and `workflow` answer in the place of all
        handlers of that kind, `steps` in the place of single steps: with a value, or a function of the `Call`.
        What has no stand-in is really run; commands only with `allow_commands`, and requests only to this machine and to
        `allow_hosts`. `secrets` are what `${secret:NAME}` finds.
        Raises SpecError, SettingsError and KitError for what cannot be run, and the AssertionError of a stand-in.
        """
        span = find_span(specs, job, env, start, end)
        offer = Offer.of(modules)
        stand_ins = StandIns(
            {"http": http, "command": command, "python": python, "workflow": workflow}, steps or {}, allow_hosts
        )
        as_written = list(all_steps(request_of(span.project, span.job, span.times[0], lambda _: False)))
        stand_ins.kinds = {step.name: step.handler for step in as_written}
        _check(as_written, stand_ins, offer, secrets or {}, commands=allow_commands)
        requests = _Requests(span, stand_ins)
        plan = FaultPlan(faults, span.local_times, list(all_steps(requests.at(span.times[0]))))
        with self._alone():
            client = await self._client(span.times[0])
            queue = f"testkit-{uuid4().hex}"
            async with kit_worker(client, queue, offer, stand_ins, plan, secrets or {}):
                clock = Clock(client.test_service)
                found = await SpanRun(client, clock, queue, span, requests.at, stand_ins, plan).occurrences()
        plan.check_all_happened()
        return Occurrences(span.job.name, found)

    @contextmanager
    def _alone(self) -> Iterator[None]:
        if self._running:
            raise KitError("this kit is in the middle of another run, with the one clock that it has; await that first")
        self._running = True
        try:
            yield
        finally:
            self._running = False

    async def _client(self, start: datetime) -> Client:
        """Of the server that runs; of another one, where the clock of that one is past a time that is still to come."""
        if self._server is not None and start > datetime.now(UTC):
            client = await self._server.connect()
            if await Clock(client.test_service).now() <= start:
                return client
            self.close()
        if self._server is None:
            self._server = await TestServer.start()
        return await self._server.connect()


class _Requests:
    """What runs are given, compiled once a year, as a sync would do."""

    def __init__(self, span: Span, stand_ins: StandIns) -> None:
        self._of_year = lru_cache(maxsize=None)(
            lambda year: request_of(span.project, span.job, datetime(year, 1, 1, tzinfo=UTC), stand_ins.has)
        )

    def at(self, scheduled_at: datetime) -> JobRequest:
        """For the run of a scheduled time."""
        request: JobRequest = self._of_year(scheduled_at.year)
        return request


def _check(
    steps: Sequence[StepRequest],
    stand_ins: StandIns,
    offer: Offer,
    secrets: Mapping[str, str],
    *,
    commands: bool,
) -> None:
    """Raises KitError for what the steps lack."""
    names = [step.name for step in steps]
    for name in stand_ins.by_step.keys() - set(names):
        raise KitError(f"steps={{{name!r}: …}}: the job has no such step; it has {', '.join(names)}")
    for step in steps:
        if missing := sorted({name for _, name in secrets_used(step.params)} - secrets.keys()):
            raise KitError(f"step {step.name} uses the secret {missing[0]}; give secrets={{{missing[0]!r}: …}}")
        if stand_ins.has(step):
            continue
        if step.handler == "command" and not commands:
            raise KitError(
                f"step {step.name} is a command; give command=… a stand-in, or allow_commands=True to run it"
            )
        if step.handler == "python":
            _check_handler(step, offer.handlers)
        if step.handler == "workflow" and step.params["type"] not in map(type_name, offer.workflows):
            raise KitError(_unknown(step, "workflow", step.params["type"]))


def _check_handler(step: StepRequest, handlers: HandlerRegistry) -> None:
    name = step.params["handler"]
    if name not in handlers.names:
        raise KitError(_unknown(step, "python", name))
    for problem in handlers.check_params(name, step.params.get("params", {})):
        raise KitError(f"step {step.name}: {'.'.join(map(str, problem.path))}: {problem.message}")


def _unknown(step: StepRequest, kind: str, name: str) -> str:
    what = "handler" if kind == "python" else kind
    return f"step {step.name} runs the {what} `{name}`; name its module in modules=[…], or give {kind}=… a stand-in"
