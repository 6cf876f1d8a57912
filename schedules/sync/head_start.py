"""Specs are read and compiled in a thread while the server is already asked for what their owner has."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from schedules.compile.job import compile_project
from schedules.lint.load import load_compiled
from schedules.source.document import is_stream, read_document
from schedules.source.files import list_specs
from schedules.source.malformed import Malformed
from schedules.source.modules import is_reference
from schedules.spec.fields import check_owner_part
from schedules.spec.file import NO_ENVIRONMENT
from schedules.spec.project import shadowed, starting

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence
    from datetime import datetime

    from activities.registry import HandlerRegistry
    from schedules.model import DesiredSchedule

Answer = TypeVar("Answer")


@dataclass(frozen=True)
class Loaded:
    """The desired schedules of an owner, by id. `left_out` are files of the folders that are no specs."""

    owner: str
    desired: Mapping[str, DesiredSchedule]
    left_out: tuple[str, ...]


async def load_while_asking(
    paths: Sequence[str],
    environment: str | None,
    registry: HandlerRegistry | None,
    now: datetime,
    *,
    shadow: bool,
    start: datetime | None,
    ask: Callable[[str], Awaitable[Answer]],
) -> tuple[Loaded, Answer]:
    """The desired schedules and the answer of `ask(owner)`. Raises SpecError before any error of `ask`.

    With `shadow` all jobs are in shadow mode; with `start` none of them runs before.
    """
    load = partial(_load, paths, environment, registry, now, shadow=shadow, start=start)
    guess = probable_owner(paths, environment)
    if guess is None:  # The user's modules are imported where they may do anything, in the main thread.
        loaded = load()
        return loaded, await ask(loaded.owner)
    asking = asyncio.ensure_future(ask(guess))
    try:
        loaded = await asyncio.to_thread(load)
        return loaded, await (asking if loaded.owner == guess else ask(loaded.owner))
    finally:
        asking.cancel()
        await asyncio.wait((asking,))


def probable_owner(paths: Sequence[str], environment: str | None) -> str | None:
    """The owner by the first file alone; None where it takes more than a look into a file of data to tell."""
    if any(map(is_reference, paths)):
        return None
    with suppress(OSError, Malformed, ValueError):
        files = [paths[0]] if is_stream(paths[0]) else list_specs(Path(paths[0])).files if paths[0] else []
        project = read_document(str(files[0])).data.get("project") if files else None
        if isinstance(project, str):
            return f"{check_owner_part(project)}/{check_owner_part(environment or NO_ENVIRONMENT)}"
    return None


def _load(
    paths: Sequence[str],
    environment: str | None,
    registry: HandlerRegistry | None,
    now: datetime,
    *,
    shadow: bool,
    start: datetime | None,
) -> Loaded:
    project, times = load_compiled(paths, environment, registry, now)
    if shadow:
        project = shadowed(project)
    if start is not None:
        project, times = starting(project, start), {}
    return Loaded(project.owner, compile_project(project, now, times), project.left_out)
