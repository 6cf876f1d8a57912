"""`tickwright explain JOB [TIME]`: the whole story of one occurrence, or why there is none."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from schedules.commands.options.reading import answer, output_option, read
from schedules.console.terminal import STDOUT
from schedules.ledger.explain import explain

if TYPE_CHECKING:
    import argparse
    from datetime import datetime

    from schedules.ledger.records import Records

UI_URL = "TICKWRIGHT_UI_URL"


def configure(parser: argparse.ArgumentParser) -> None:
    """Declares the command's options on `parser`."""
    parser.description = "Show the story of one occurrence, step by step; or why nothing ran, with the evidence."
    parser.add_argument("job", metavar="JOB", help="name of a job")
    parser.add_argument(
        "time",
        metavar="TIME",
        nargs="?",
        default="",
        help="local time of the job (2027-03-14T02:00, or 02:00 for the last one), a time with an offset, the id of an occurrence, "
        "or last-failed (default: the last time that had to run)",
    )
    parser.add_argument(
        "--ui-url",
        default=os.environ.get(UI_URL, ""),
        metavar="URL",
        help=f"address of Temporal's Web UI, for a link to the run (default: ${UI_URL}, or that of `tickwright dev` in this folder)",
    )
    output_option(parser)
    parser.set_defaults(execute=execute)


def execute(options: argparse.Namespace) -> int:
    """Runs the command; its exit code. Raises TickwrightError for what ends it early."""

    async def work(records: Records, now: datetime) -> int:
        from schedules.server.dev_ui import ui_of_dev
        from schedules.views.explain import explained_json, explained_text

        told = await explain(records, options.job, options.time, now, options.ui_url or ui_of_dev(records.client))
        if options.output == "json":
            answer(explained_json(told))
        else:
            STDOUT.answer(explained_text(told) + "\n")
        return 0

    return read(work)
