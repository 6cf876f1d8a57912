"""`python -m schedules channels PATH… [--test NAME]`: the channels of the spec files; a test is sent by a worker, which has the secrets."""

from __future__ import annotations

import asyncio
import uuid
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from schedules.commands.options.specs import spec_options
from schedules.console.terminal import say
from schedules.errors import SettingsError, TickwrightError
from schedules.text.nearest import suggestion

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from temporalio.client import WorkflowHandle

    from activities.notices.contract import Target
    from schedules.spec.job import JobSpec
    from schedules.spec.project import Project

ANSWER = timedelta(seconds=60)


class NotDeliveredError(TickwrightError):
    """A channel did not take a test."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declares the command's options on `parser`."""
    parser.description = "Show the channels of the spec files and the jobs that use them, or send a test notice."
    parser.epilog = "Exit codes: 0 done; 1 the test notice was not delivered; 2 wrong call."
    spec_options(parser)
    parser.add_argument(
        "--test", metavar="NAME", help="let a worker send a test notice to each address of this channel"
    )
    parser.add_argument("--task-queue", metavar="Q", help="task queue of that worker (default: that of the first job)")
    parser.set_defaults(execute=execute)


def execute(options: argparse.Namespace) -> int:
    """Runs the command; its exit code. Raises TickwrightError for what ends it early."""
    import gc

    from schedules.source.load import load_project

    project = load_project(options.paths, options.env)
    if not options.test:
        for line in lines_of(project):
            say(line)
        return 0
    targets = _targets(project, options.test)
    queue = options.task_queue or next((job.task_queue for job in project.jobs), "")
    asyncio.run(_send(project, targets, queue))
    gc.collect()
    say(f"{options.test}: delivered to {len(targets)} address{'' if len(targets) == 1 else 'es'}")
    return 0


def lines_of(project: Project) -> list[str]:
    """Each channel with the jobs that name it."""
    return [
        f"{channels.file}: {name}: {', '.join(_named_by(project, name, channels.jobs)) or 'no job uses it'}"
        for channels in project.channels
        for name in channels.specs
    ] or [f"{project.owner} has no channels; write them under `channels`"]


def _named_by(project: Project, name: str, jobs: frozenset[str]) -> list[str]:
    return [job.name for job in project.jobs if job.name in jobs and name in _names(job)]


def _names(job: JobSpec) -> set[str]:
    told = [each.channels for each in (job.on_failure, job.on_missed) if each]
    return {name for names in (*told, job.on_recovery or ()) for name in names}


def _targets(project: Project, name: str) -> list[Target]:
    from schedules.compile.notices import targets

    for channels in project.channels:
        if name in channels.specs:
            return targets([name], channels.specs)
    known = [each for channels in project.channels for each in channels.specs]
    raise SettingsError(f"{project.owner} has no channel `{name}`; {suggestion(name, known, 'channels')}")


async def _ended(handle: WorkflowHandle[Any, Any]) -> None:
    """Raises what it ended with; takes it back if it is waited for no longer."""
    from contextlib import suppress

    from temporalio.service import RPCError

    try:
        await handle.result()
    except asyncio.CancelledError:
        with suppress(RPCError):
            await handle.terminate(reason="the command that asked for it was ended", rpc_timeout=timedelta(seconds=5))
        raise


async def _send(project: Project, targets: Sequence[Target], queue: str) -> None:
    """Raises NotDeliveredError."""
    from temporalio.client import WorkflowFailureError
    from temporalio.exceptions import TimeoutError as NotEnded

    from activities.notices.contract import NOTICE_WORKFLOW, Notice, Post
    from schedules.console.signals import unless_interrupted
    from schedules.server.connection import connect
    from schedules.server.workers import Workers

    client = await connect()
    if not await Workers(client).polls(queue):
        say(f"no worker polls task queue `{queue}`; waiting for one, at most {ANSWER.total_seconds():g} s")
    key = f"tickwright-test-{uuid.uuid4()}"
    notice = Notice("test", project.name, project.environment, "", "UTC", reason="somebody tries this channel")
    try:
        handle = await client.start_workflow(
            NOTICE_WORKFLOW,
            Post(notice, list(targets), key, attempts=1),
            id=key,
            task_queue=queue,
            execution_timeout=ANSWER,
        )
        await unless_interrupted(_ended(handle), "the test notice was cancelled, unless it was already being sent")
    except WorkflowFailureError as error:
        if isinstance(error.cause, NotEnded):
            told = f"no worker of task queue `{queue}` sent the test notice within {ANSWER.total_seconds():g} s"
            raise NotDeliveredError(f"{told}; start a worker, or write --task-queue") from None
        raise NotDeliveredError(str(getattr(error.cause, "message", error.cause))) from None
