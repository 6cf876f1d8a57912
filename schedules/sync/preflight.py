"""Preflight: faults that would keep the jobs of a project from running once its plan is applied."""

from __future__ import annotations

import asyncio
import json
import shlex
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from activities.contract import JOB_WORKFLOW, OfferQuestion, Trial
from activities.notices.contract import WATCHDOG_WORKFLOW
from activities.steps.template import secrets_used
from schedules.errors import UndecodableError
from schedules.spec.handlers import FIRST, KINDS, need_of
from schedules.text.nearest import nearest
from schedules.text.shown import some_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from activities.contract import WorkerOffer
    from schedules.model import DesiredSchedule
    from schedules.plan.plan import Plan
    from schedules.server.port import Schedules
    from schedules.spec.kinds.kind import Need

SHOWN = 3
CONCURRENCY = 10
"""Queues that are looked at together."""


class Askable(Protocol):
    """The questions of preflight to workers and namespace; where they cannot answer, their answer says nothing."""

    async def polls(self, task_queue: str) -> bool:
        """Whether a worker takes workflow tasks from the queue."""

    async def answers(self, task_queue: str, question: OfferQuestion) -> list[WorkerOffer | None]:
        """The offer of each worker of the queue, None for one that does not say.

        Raises UndecodableError for an answer encrypted with a key not known here.
        """

    async def largest_payload(self) -> int:
        """Bytes, 0 for no limit known."""


@dataclass(slots=True)
class Needs:
    """The requirements of one task queue's jobs on its workers: the jobs by need of a handler, by key and by secret."""

    jobs: list[str] = field(default_factory=list)
    of_kinds: dict[Need, list[str]] = field(default_factory=dict)
    #: Those that not every worker has.
    kinds: set[str] = field(default_factory=set)
    keys: dict[str, list[str]] = field(default_factory=dict)
    secrets: dict[str, list[str]] = field(default_factory=dict)
    #: What workers are to try, as its handler and parameters (JSON).
    trials: dict[tuple[str, str], list[str]] = field(default_factory=dict)

    @property
    def special(self) -> bool:
        """Whether a worker may lack something of it."""
        return bool(self.of_kinds or self.keys or self.secrets or self.trials)

    @property
    def question(self) -> OfferQuestion:
        """What the workers are asked."""
        trials = [Trial(handler, json.loads(params)) for handler, params in sorted(self.trials)]
        return OfferQuestion(secrets=sorted(self.secrets), trials=trials, kinds=sorted(self.kinds))


async def preflight(plan: Plan, wanted: Iterable[DesiredSchedule], workers: Askable, *, ask: bool) -> list[str]:
    """One warning for each thing that is missing, by all `wanted` jobs and not only by those that the plan changes.

    Each queue is looked at once. With `ask`, each worker of it runs a short workflow to say what it has.
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
    """The search attributes that the first sync registers in a namespace: a warning for a dry run, and no fault."""
    if not any(change.desired for change in plan.changes) or not (missing := await schedules.missing_attributes()):
        return []
    return [f"the namespace lacks the search attributes {', '.join(missing)}; the first sync registers them"]


def needs_of(desired: Iterable[DesiredSchedule]) -> dict[str, Needs]:
    """By task queue, what its workers must offer. Workflows started without JobWorkflow may be anybody's: only a poller."""
    found: dict[str, Needs] = {}
    for schedule in desired:
        _note(found.setdefault(schedule.action.task_queue, Needs()).jobs, schedule.id)
        if schedule.action.workflow_type == WATCHDOG_WORKFLOW:
            _note_secrets(found[schedule.action.task_queue], schedule, schedule.action.args)
        if schedule.action.workflow_type != JOB_WORKFLOW:
            continue
        for step in _steps(schedule):
            _note_step(found.setdefault(step.get("task_queue") or schedule.action.task_queue, Needs()), schedule, step)
        _note_secrets(found[schedule.action.task_queue], schedule, schedule.action.args[0].get("alerts"))
    return found


def _note_step(needs: Needs, schedule: DesiredSchedule, step: dict[str, Any]) -> None:
    _note(needs.jobs, schedule.id)
    if schedule.encryption:
        _note(needs.keys.setdefault(schedule.encryption, []), schedule.id)
    _note_secrets(needs, schedule, step["params"])
    if need := need_of(step["handler"], step["params"]):
        _note(needs.of_kinds.setdefault(need, []), schedule.id)
    if step["handler"] not in FIRST:
        needs.kinds.add(step["handler"])
    if trial := KINDS[step["handler"]].trial(step["params"]):
        _note(needs.trials.setdefault((step["handler"], json.dumps(trial)), []), schedule.id)


def _note_secrets(needs: Needs, schedule: DesiredSchedule, value: Any) -> None:
    for _, name in secrets_used(value):
        _note(needs.secrets.setdefault(name, []), schedule.id)


def _steps(schedule: DesiredSchedule) -> Iterator[dict[str, Any]]:
    """The steps of a job and what takes them back."""
    for step in schedule.action.args[0]["steps"]:
        yield step
        if undo := step.get("compensate"):
            yield undo


def _note(jobs: list[str], job: str) -> None:
    if job not in jobs:
        jobs.append(job)


def missing_in(queue: str, needs: Needs, offers: Sequence[WorkerOffer]) -> Iterator[str]:
    """Warnings about needs that some worker of those that answered does not meet."""
    for need in sorted(needs.of_kinds, key=lambda need: (need.setting, need.lack)):
        if without := [offer for offer in offers if need.name not in need.offered(offer)]:
            close = nearest(need.name, sorted({name for offer in offers for name in need.offered(offer)} - {need.name}))
            hint = f"there is {' and '.join(f'`{other}`' for other in close)}; " if close else ""
            yield f"{need.lack} in {_those(without, offers, queue)}, which {_names(needs.of_kinds[need])} need: {hint}{need.advice}"
    for name in sorted(needs.secrets):
        if without := [offer for offer in offers if name in offer.missing_secrets]:
            lack = f"no secret `{name}` in {_those(without, offers, queue)}, which {_names(needs.secrets[name])} need"
            yield f"{lack}: give it TICKWRIGHT_SECRET_{name}, or a file of that name in its TICKWRIGHT_SECRETS_DIR"
    for place, trial in enumerate(sorted(needs.trials)):
        met = [(offer.troubles[place : place + 1] or [""])[0] for offer in offers]
        for trouble in sorted(set(filter(None, met))):
            those = [offer for offer, each in zip(offers, met, strict=True) if each == trouble]
            yield f"`{trial[0]}` steps of {_names(needs.trials[trial])} would fail in {_those(those, offers, queue)}: {trouble}"
    for key in sorted(needs.keys):
        if without := [offer for offer in offers if key not in offer.keys]:
            yield (
                f"no key `{key}` in {_those(without, offers, queue)}, with which {_names(needs.keys[key])} are encrypted: "
                "they could not run there; give the key to every worker before a sync encrypts with it"
            )


def _those(some: Sequence[WorkerOffer], offers: Sequence[WorkerOffer], queue: str) -> str:
    """Which of the workers that answered."""
    if len(some) == len(offers):
        return f"{'the worker' if len(offers) == 1 else f'any of the {len(offers)} workers'} of task queue `{queue}`"
    names = ", ".join(sorted(offer.worker for offer in some)[:SHOWN])
    return f"{len(some)} of the {len(offers)} workers of task queue `{queue}` ({names})"


def start_command(queue: str, needs: Needs) -> str:
    """The command that starts a worker for the jobs, with gaps for what has to be filled in."""
    settings = [f"TICKWRIGHT_TASK_QUEUE={shlex.quote(queue)}"]
    needed = sorted(needs.of_kinds, key=lambda need: need.lack)
    settings += [need.setting for need in needed if need.setting]
    settings += [f"TICKWRIGHT_SECRET_{name}=…" for name in sorted(needs.secrets)[:SHOWN]]
    own = [f"`{need.name}`" for need in needed if need.of_module]
    settings += ["TICKWRIGHT_MODULES=…"] if own else []
    more = (
        f", with the modules that have {', '.join(own[:SHOWN])}{' and others' if len(own) > SHOWN else ''}"
        if own
        else ""
    )
    return f"start one with {' '.join(settings)} tickwright worker{more}"


def oversized(desired: Iterable[DesiredSchedule], limit: int) -> Iterator[str]:
    """Jobs whose arguments the server would refuse."""
    for schedule in desired:
        size = len(json.dumps(schedule.action.args).encode())
        if limit and size > limit:
            yield f"the parameters of {schedule.id} are {size:,} bytes, more than the {limit:,} that the namespace takes"


async def _queue(queue: str, needs: Needs, workers: Askable, *, ask: bool) -> list[str]:
    if not await workers.polls(queue):
        return [f"no worker polls task queue `{queue}`: {_names(needs.jobs)} would wait; {start_command(queue, needs)}"]
    if not ask or not needs.special:
        return []
    try:
        answers = await workers.answers(queue, needs.question)
    except UndecodableError as error:
        return [f"the answers of the workers of task queue `{queue}` cannot be read: {error}"]
    if not (offers := [answer for answer in answers if answer is not None]):
        return [f"no worker of task queue `{queue}` answered what it can run; do the workers have this version?"]
    return list(missing_in(queue, needs, offers))


def _names(jobs: list[str]) -> str:
    return some_of([f"`{job}`" for job in jobs], SHOWN)
