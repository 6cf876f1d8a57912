"""What would keep the jobs of a project from running once its plan is applied, found before it is."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from activities.contract import JOB_WORKFLOW
from schedules.errors import UndecodableError
from schedules.text.nearest import nearest

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from activities.contract import WorkerOffer
    from schedules.model import DesiredSchedule
    from schedules.plan.plan import Plan
    from schedules.server.port import Schedules

SHOWN = 3
CONCURRENCY = 10
"""Queues that are looked at together."""


class Askable(Protocol):
    """What preflight asks of the workers and of the namespace; they answer with what says nothing where they cannot."""

    async def polls(self, task_queue: str) -> bool:
        """Whether a worker takes workflow tasks from the queue."""

    async def offer(self, task_queue: str) -> WorkerOffer | None:
        """What a worker of the queue can run. Raises UndecodableError for an answer encrypted with a key not known here."""

    async def largest_payload(self) -> int:
        """Bytes, 0 for no limit known."""


@dataclass(slots=True)
class Needs:
    """What the jobs of one task queue need of its workers: by handler, by workflow type, and by id of a key, the jobs."""

    jobs: list[str] = field(default_factory=list)
    handlers: dict[str, list[str]] = field(default_factory=dict)
    workflows: dict[str, list[str]] = field(default_factory=dict)
    keys: dict[str, list[str]] = field(default_factory=dict)


async def preflight(plan: Plan, wanted: Iterable[DesiredSchedule], workers: Askable, *, ask: bool) -> list[str]:
    """One warning for each thing that is missing, by all `wanted` jobs and not only by those that the plan changes.

    Each queue is looked at once. With `ask`, a worker of it runs a short workflow to say what it has.
    """
    refused = {change.job for change in plan.changes if change.conflict}.union(plan.over)
    needs = needs_of(schedule for schedule in wanted if schedule.id not in refused)
    limit = asyncio.Semaphore(CONCURRENCY)

    async def look(queue: str) -> list[str]:
        async with limit:
            return await _queue(queue, needs[queue], workers, ask=ask)

    warnings = [warning for found in await asyncio.gather(*map(look, sorted(needs))) for warning in found]
    written = [change.desired for change in plan.changes if change.desired and not change.conflict]
    return [*warnings, *oversized(written, await workers.largest_payload())] if written else warnings


async def unregistered(plan: Plan, schedules: Schedules) -> list[str]:
    """What a sync of the plan does first in a namespace that has seen none: told to who only looks, and no fault."""
    if not any(change.desired for change in plan.changes) or not (missing := await schedules.missing_attributes()):
        return []
    return [f"the namespace lacks the search attributes {', '.join(missing)}; the first sync registers them"]


def needs_of(desired: Iterable[DesiredSchedule]) -> dict[str, Needs]:
    """By task queue, what its workers must offer. Workflows started without JobWorkflow may be anybody's: only a poller."""
    found: dict[str, Needs] = {}
    for schedule in desired:
        _note(found.setdefault(schedule.action.task_queue, Needs()).jobs, schedule.id)
        if schedule.action.workflow_type != JOB_WORKFLOW:
            continue
        for step in _steps(schedule):
            needs = found.setdefault(step.get("task_queue") or schedule.action.task_queue, Needs())
            _note(needs.jobs, schedule.id)
            if schedule.encryption:
                _note(needs.keys.setdefault(schedule.encryption, []), schedule.id)
            if step["handler"] == "python":
                _note(needs.handlers.setdefault(step["params"]["handler"], []), schedule.id)
            if step["handler"] == "workflow":
                _note(needs.workflows.setdefault(step["params"]["type"], []), schedule.id)
    return found


def _steps(schedule: DesiredSchedule) -> Iterator[dict[str, Any]]:
    """The steps of a job and what takes them back."""
    for step in schedule.action.args[0]["steps"]:
        yield step
        if undo := step.get("compensate"):
            yield undo


def _note(jobs: list[str], job: str) -> None:
    if job not in jobs:
        jobs.append(job)


def missing_in(queue: str, needs: Needs, offer: WorkerOffer) -> Iterator[str]:
    """What the jobs need and the worker does not have."""
    for what, needed, offered in (
        ("handler", needs.handlers, offer.handlers),
        ("workflow type", needs.workflows, offer.workflows),
    ):
        for name in sorted(needed.keys() - set(offered)):
            close = nearest(name, offered)
            hint = f"it has {' and '.join(f'`{other}`' for other in close)}; " if close else ""
            yield (
                f"no {what} `{name}` in the worker asked on task queue `{queue}`, which {_names(needed[name])} need: {hint}"
                "is its module in the worker's TICKWRIGHT_MODULES?"
            )
    for key in sorted(needs.keys.keys() - set(offer.keys)):
        yield (
            f"the worker asked on task queue `{queue}` has no key `{key}`, with which {_names(needs.keys[key])} are encrypted: "
            f"they could not run; give it to every worker before a sync encrypts with it"
        )


def oversized(desired: Iterable[DesiredSchedule], limit: int) -> Iterator[str]:
    """Jobs whose arguments the server would refuse."""
    for schedule in desired:
        size = len(json.dumps(schedule.action.args).encode())
        if limit and size > limit:
            yield f"the parameters of {schedule.id} are {size:,} bytes, more than the {limit:,} that the namespace takes"


async def _queue(queue: str, needs: Needs, workers: Askable, *, ask: bool) -> list[str]:
    if not await workers.polls(queue):
        advice = f"start one with TICKWRIGHT_TASK_QUEUE={queue} python -m worker"
        return [f"no worker polls task queue `{queue}`: {_names(needs.jobs)} would wait; {advice}"]
    if not ask or not (needs.handlers or needs.workflows or needs.keys):
        return []
    try:
        offer = await workers.offer(queue)
    except UndecodableError as error:
        return [f"what the worker asked on task queue `{queue}` answered cannot be read: {error}"]
    if offer is None:
        return [f"no worker of task queue `{queue}` said what it can run; is it of this version?"]
    return list(missing_in(queue, needs, offer))


def _names(jobs: list[str]) -> str:
    more = f" and {len(jobs) - SHOWN} more" if len(jobs) > SHOWN else ""
    return ", ".join(f"`{job}`" for job in jobs[:SHOWN]) + more
