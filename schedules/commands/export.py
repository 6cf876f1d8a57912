"""`python -m schedules export`: a spec file for schedules that exist already and that no project manages."""

from __future__ import annotations

import argparse
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from schedules.console.terminal import STDOUT, say
from schedules.text.shown import printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from temporalio.client import Client

    from schedules.importing.formats.temporal import Exported

COMPLETE, INCOMPLETE = 0, 1
HEAD = """\
# {count} schedules of namespace {namespace}, each with the workflow that it starts by itself. `sync --adopt` with this
# file takes them over{unchanged}.
version: 1
project: {project}
defaults:
  timeout: 1h  # of attempts of Tickwright's own; a workflow that is started directly has the limits under `direct`
jobs:
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declares the command's options on `parser`."""
    parser.description = "Write a spec file to standard output, for schedules that no project owns yet."
    parser.epilog = (
        "Exit codes: 0 a sync with the file changes nothing but the owner; 1 the file lacks something, which standard error "
        "and the file name; 2 wrong call."
    )
    parser.add_argument(
        "--query", default="", metavar="Q", help="visibility query that chooses schedules (default: all)"
    )
    parser.add_argument(
        "--project",
        type=_project,
        default="exported",
        metavar="P",
        help="project that the file names (default: exported)",
    )
    parser.set_defaults(execute=execute)


def execute(options: argparse.Namespace) -> int:
    """Runs the command; its exit code. Raises TickwrightError for what ends it early."""
    import asyncio
    import gc

    STDOUT.keep_for("yaml")
    code = asyncio.run(_connected(options))
    gc.collect()
    return code


async def _connected(options: argparse.Namespace) -> int:
    from schedules.server.connection import connect

    client = await connect()
    found, managed = await _exported(client, options)
    STDOUT.answer(text_of(found, options.project, client.namespace))
    for line in lines_of(found):
        say(line)
    jobs = sum(item.job is not None for item in found)
    say(f"{jobs} of {len(found)} schedules written; {managed} already belong to a project and were left out")
    return INCOMPLETE if any(item.lost for item in found) else COMPLETE


async def _exported(client: Client, options: argparse.Namespace) -> tuple[list[Exported], int]:
    """What became of each schedule without an owner, by id, and how many have one."""
    from schedules.importing.formats.temporal import export_schedule
    from schedules.server.gateway import TemporalGateway
    from schedules.sync.observe import described

    gateway, now = TemporalGateway(client), datetime.now(UTC)
    listed = await gateway.listed(options.query)
    free = [entry.id for entry in listed if entry.owner is None]
    schedules = await described(gateway, free)
    found = [_readable(export_schedule(each, options.project, now)) for _, each in sorted(schedules.items())]
    return without_shared_ids(found), len(listed) - len(free)


def without_shared_ids(found: Sequence[Exported]) -> list[Exported]:
    """Leaves out each schedule whose runs have the ids of another's: the jobs of a project must have ids of their own."""
    known: dict[str, str] = {}
    kept: list[Exported] = []
    for item in found:
        if item.job is not None:
            run_id = item.job["run"]["workflow"]["direct"].get("id", item.id)
            if (other := known.setdefault(run_id, item.id)) != item.id:
                why = f"its runs have the workflow id `{run_id}`, as those of {other}; give one of the two another in Temporal"
                kept.append(replace(item, job=None, lost=(why,), kept=()))
                continue
        kept.append(item)
    return kept


def _readable(item: Exported) -> Exported:
    """The item, left out where a spec file that holds it could not be read: one schedule must not spoil the file."""
    if item.job is None:
        return item
    from schedules.source.compose import compose
    from schedules.source.construct import Constructor
    from schedules.source.malformed import Malformed
    from schedules.text.yaml import yaml_text

    jobs = {"jobs": {item.id: item.job}}
    try:
        same = Constructor().value(compose(yaml_text(jobs))) == jobs
    except (Malformed, RecursionError) as error:
        return replace(item, job=None, lost=(f"no spec file can hold it: {error}",), kept=())
    return (
        item
        if same
        else replace(item, job=None, lost=("no spec file can hold it: it would be read differently",), kept=())
    )


def text_of(found: Sequence[Exported], project: str, namespace: str) -> str:
    """The file; what is lost of a schedule stands above it as a comment, and so does one that is left out."""
    written = [item for item in found if item.job is not None]
    unchanged = (
        " and changes nothing" if not any(item.lost for item in written) else "; comments say what it would change"
    )
    head = HEAD.format(count=len(written), namespace=namespace, unchanged=unchanged, project=project)
    return head + "".join(_job_text(item) for item in found) if written else head.rstrip() + " {}\n"


def lines_of(found: Sequence[Exported]) -> Iterator[str]:
    """What is not in the file, a line each."""
    for item in found:
        what = "" if item.job is not None else " (left out)"
        for lost in (*item.lost, *item.kept):
            yield printable(f"{item.id}{what}: {lost}")


def _job_text(item: Exported) -> str:
    from schedules.text.yaml import yaml_text

    what = "" if item.job is not None else f"left out: {item.id}: "
    comments = "".join(f"  # {printable(what + lost)}\n" for lost in (*item.lost, *item.kept))
    if item.job is None:
        return comments
    return comments + "".join(f"  {line}\n" for line in yaml_text({item.id: item.job}).rstrip("\n").split("\n"))


def _project(text: str) -> str:
    from schedules.spec.fields import check_owner_part

    try:
        return check_owner_part(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error
