"""`python -m schedules VERB`; the installed `tickwright` has these verbs and the worker."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, NoReturn

from schedules.commands import (
    backfill,
    board,
    channels,
    explain,
    export,
    forecast,
    lint,
    monitor,
    next,  # noqa: A004  the verb is called so
    pause,
    resume,
    rules,
    runs,
    status,
    sync,
    trigger,
)
from schedules.console.terminal import run

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    Verbs = Mapping[str, tuple[str, Callable[[argparse.ArgumentParser], None]]]

VERBS = {
    "sync": ("make a Temporal namespace match the spec files", sync.configure),
    "channels": ("show the channels that people are told by, or try one", channels.configure),
    "export": ("write a spec file for schedules that exist already", export.configure),
    "lint": ("check spec files without a server", lint.configure),
    "next": ("show the next times of a job or of a cron expression", next.configure),
    "status": ("show the state of every job", status.configure),
    "runs": ("show a job's occurrences, those that did not run included", runs.configure),
    "explain": ("tell the whole story of one occurrence, or why there is none", explain.configure),
    "monitor": ("serve metrics of every job for Prometheus", monitor.configure),
    "board": ("serve one page that shows what ran, what did not, and what comes", board.configure),
    "rules": ("write Prometheus' alert rules for the jobs of spec files", rules.configure),
    "forecast": ("tell what will start, and what a maintenance window would delay or lose", forecast.configure),
    "pause": ("pause jobs, until a resume or until a time", pause.configure),
    "resume": ("end pauses, and if asked make up for what they kept from running", resume.configure),
    "trigger": ("run a job now, or one of its occurrences", trigger.configure),
    "backfill": ("run occurrences of the past, or only those without a success", backfill.configure),
}


def main(arguments: Sequence[str] | None = None, verbs: Verbs = VERBS) -> NoReturn:
    """Entry point of the command; `verbs` may be more than ours."""
    installed = not sys.argv[0].endswith("__main__.py")
    name = "tickwright" if installed else "python -m schedules"
    parser = argparse.ArgumentParser(prog=name, description="Declarative, durable cron on Temporal.")
    parsers = parser.add_subparsers(title="verbs", required=True, metavar="VERB")
    for verb, (summary, configure) in verbs.items():
        configure(parsers.add_parser(verb, help=summary))
    run(parser, arguments)


if __name__ == "__main__":
    main()
