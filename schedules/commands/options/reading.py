"""Reading commands: their connection, `--output` and `--owner`, and their JSON."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, get_args

from schedules.console.terminal import STDOUT
from schedules.errors import SettingsError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Awaitable, Callable, Sequence

    from schedules.ledger.records import Records

EPILOG = "Exit codes: 0 shown; 1 the server cannot be reached or refused; 2 the command line or a spec is wrong."


def output_option(parser: argparse.ArgumentParser) -> None:
    """`--output`, and what the exit codes mean."""
    parser.epilog = EPILOG
    parser.add_argument("--output", choices=["text", "json"], default="text", help="json: one document on stdout")


def owner_option(parser: argparse.ArgumentParser) -> None:
    """`--owner`, for commands about many jobs."""
    parser.add_argument("--owner", metavar="P/E", help="project/environment (default: all in the namespace)")


def read(work: Callable[[Records, datetime], Awaitable[int]]) -> int:
    """Connects and does the work; its exit code. Raises TickwrightError."""
    import asyncio
    import gc

    code = asyncio.run(_connected(work))
    gc.collect()
    return code


async def _connected(work: Callable[[Records, datetime], Awaitable[int]]) -> int:
    from schedules.ledger.records import Records
    from schedules.server.connection import connect

    return await work(Records(await connect()), datetime.now(UTC))


def verdicts(text: str) -> Sequence[str]:
    """An option's comma-separated outcomes. Raises SettingsError with the known ones."""
    from activities.account.facts import Verdict
    from schedules.text.nearest import suggestion

    known = get_args(Verdict)
    given = [word.strip() for word in text.split(",") if word.strip()]
    if wrong := next((word for word in given if word not in known), None):
        raise SettingsError(f"--outcome {wrong}: {suggestion(wrong, known, 'outcomes')}")
    return given


def answer(document: Any) -> None:
    """One JSON document on standard output."""
    STDOUT.answer(json.dumps(document, indent=2, ensure_ascii=False) + "\n")
