"""Jobs of several steps for tests: their handler `play` does what a script says for each step."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from datetime import datetime
from types import ModuleType
from typing import Any

from pydantic import BaseModel
from temporalio import activity

from activities import HandlerError, JobContext, handler
from activities.contract import JobRequest, RetryRequest, StepRequest
from tests.runs import request

HOUR = 3600.0
Act = Callable[[JobContext], Awaitable[Any]]


class Told(BaseModel):
    """What a step's templates were filled in with."""

    told: Any = None


@dataclass
class Script:
    """By step what it does, attempt by attempt, the last one repeated; what is not named succeeds with its own name."""

    acts: dict[str, list[Act]] = field(default_factory=dict)
    began: list[str] = field(default_factory=list)
    ended: list[str] = field(default_factory=list)
    contexts: dict[str, JobContext] = field(default_factory=dict)
    told: dict[str, Any] = field(default_factory=dict)
    times: dict[str, list[datetime]] = field(default_factory=dict)

    def module(self) -> ModuleType:
        @handler("play")
        async def play(params: Told, context: JobContext) -> Any:
            self.began.append(context.step)
            self.contexts[context.step] = context
            self.told[context.step] = params.told
            self.times.setdefault(context.step, []).append(activity.info().started_time)
            acts = self.acts.get(context.step, [name_it])
            try:
                return await acts[min(context.attempt, len(acts)) - 1](context)
            finally:
                self.ended.append(context.step)

        module = ModuleType("script")
        vars(module)["play"] = play
        return module

    async def until_begun(self, *steps: str) -> None:
        """Waits until each of the steps has begun."""
        async with asyncio.timeout(60):
            while not set(steps) <= set(self.began):  # noqa: ASYNC110 - a script sets no event
                await asyncio.sleep(0.01)


async def name_it(context: JobContext) -> Any:
    return {"by": context.step}


async def fail(context: JobContext) -> None:
    raise HandlerError(f"{context.step} is broken")


async def fail_for_good(context: JobContext) -> None:
    raise HandlerError(f"{context.step} is broken for good", permanent=True)


async def hang(_context: JobContext) -> None:
    await asyncio.Event().wait()


def give(value: Any) -> Act:
    async def act(_context: JobContext) -> Any:
        return value

    return act


def a_step(name: str, told: Any = None, *, undo: StepRequest | bool = False, **fields: Any) -> StepRequest:
    """One step that is played; it is tried once, and its compensation, too."""
    params = {"handler": "play", "params": {} if told is None else {"told": told}}
    made = StepRequest(name, "python", params, 30.0, 0.5)
    taken_back = (a_step(f"{name}/undo") if undo else None) if isinstance(undo, bool) else undo
    return replace(made, compensate=taken_back, **fields)


def a_job(job: str, *steps: StepRequest, deadline: float | None = None, **fields: Any) -> JobRequest:
    """A job of these steps."""
    return replace(request("python", job=job, deadline=deadline), steps=list(steps), **fields)


def tries(attempts: int, initial: float = HOUR) -> RetryRequest:
    """That many, an hour apart."""
    return RetryRequest(max_attempts=attempts, backoff="fixed", initial=initial, max=initial)
