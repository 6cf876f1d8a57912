"""Specs are read and compiled in a thread while the server is already asked for what their owner has."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from schedules.compile.job import compile_project
from schedules.lint.load import load_checked
from schedules.source.document import read_document
from schedules.source.files import spec_files
from schedules.source.malformed import Malformed
from schedules.source.modules import is_reference
from schedules.spec.fields import check_owner_part
from schedules.spec.file import NO_ENVIRONMENT

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence
    from datetime import datetime

    from activities.registry import HandlerRegistry
    from schedules.model import DesiredSchedule

Answer = TypeVar("Answer")


async def load_while_asking(
    paths: Sequence[str],
    environment: str | None,
    registry: HandlerRegistry | None,
    now: datetime,
    ask: Callable[[str], Awaitable[Answer]],
) -> tuple[str, Mapping[str, DesiredSchedule], Answer]:
    """The owner, its desired schedules by id, and what `ask(owner)` gave. Raises SpecError before any error of `ask`."""
    guess = probable_owner(paths, environment)
    if guess is None:  # The user's modules are imported where they may do anything, in the main thread.
        owner, desired = _load(paths, environment, registry, now)
        return owner, desired, await ask(owner)
    asking = asyncio.ensure_future(ask(guess))
    try:
        owner, desired = await asyncio.to_thread(_load, paths, environment, registry, now)
        return owner, desired, await (asking if owner == guess else ask(owner))
    finally:
        asking.cancel()
        await asyncio.wait((asking,))


def probable_owner(paths: Sequence[str], environment: str | None) -> str | None:
    """The owner by the first file alone; None where it takes more than a look into a file of data to tell."""
    if any(map(is_reference, paths)):
        return None
    with suppress(OSError, Malformed, ValueError):
        file = next(iter(spec_files(Path(paths[0]))), None)
        project = read_document(str(file)).data.get("project") if file else None
        if isinstance(project, str):
            return f"{check_owner_part(project)}/{check_owner_part(environment or NO_ENVIRONMENT)}"
    return None


def _load(
    paths: Sequence[str], environment: str | None, registry: HandlerRegistry | None, now: datetime
) -> tuple[str, Mapping[str, DesiredSchedule]]:
    project = load_checked(paths, environment, registry)
    return project.owner, compile_project(project, now)
