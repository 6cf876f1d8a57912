"""`python -m schedules VERB`; the installed `tickwright` has these verbs, `worker` and `dev`."""

from __future__ import annotations

import argparse
import sys
from importlib import import_module
from typing import TYPE_CHECKING, NoReturn

from schedules.console.terminal import run
from schedules.version import __version__

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    Verbs = Mapping[str, tuple[str, str]]

VERBS: Verbs = {
    "init": ("write the files of a new project", "schedules.commands.init"),
    "sync": ("make a Temporal namespace match the spec files", "schedules.commands.sync"),
    "diff": ("show what a sync would change", "schedules.commands.diff"),
    "channels": ("show the channels for notices, or send a test notice", "schedules.commands.channels"),
    "export": ("write a spec file for schedules that the CLI or an SDK made", "schedules.commands.export"),
    "claim": ("run a command as one occurrence of a job, unless it has already started", "schedules.commands.claim"),
    "import": ("write specs from crontabs, CronJobs, timers, Celery beat and others", "schedules.commands.import_jobs"),
    "lint": ("check spec files without a server", "schedules.commands.lint"),
    "next": ("show the next times of a job or of a cron expression", "schedules.commands.next"),
    "shadow": ("compare the starts of the old system with the runs here", "schedules.commands.shadow"),
    "status": ("show the state of every job", "schedules.commands.status"),
    "runs": ("show the occurrences of a job, with those that did not run", "schedules.commands.runs"),
    "explain": ("show the story of one occurrence, or why nothing ran", "schedules.commands.explain"),
    "logs": ("show the output of each step of a run, also while it runs", "schedules.commands.logs"),
    "monitor": ("serve metrics of every job for Prometheus", "schedules.commands.monitor"),
    "board": ("serve one page with what ran, what did not, and what comes", "schedules.commands.board"),
    "rules": ("write Prometheus' alert rules for the jobs of spec files", "schedules.commands.rules"),
    "forecast": (
        "show what will start, and what a maintenance window would delay or lose",
        "schedules.commands.forecast",
    ),
    "pause": ("stop jobs from starting, until a resume or until a time", "schedules.commands.pause"),
    "resume": ("end a pause, and run what was due during it if you ask for it", "schedules.commands.resume"),
    "trigger": ("run a job now, or one of its occurrences", "schedules.commands.trigger"),
    "backfill": ("run past occurrences, or only those without a success", "schedules.commands.backfill"),
}
"""Each verb's summary, and the module whose `configure` declares its options: imported only when the verb is used."""


def main(arguments: Sequence[str] | None = None, verbs: Verbs = VERBS) -> NoReturn:
    """Entry point of the command; `verbs` may be more than ours."""
    words = sys.argv[1:] if arguments is None else arguments
    installed = not sys.argv[0].endswith("__main__.py")
    run(command_parser(words, verbs, "tickwright" if installed else "python -m schedules"), words)


def command_parser(words: Sequence[str], verbs: Verbs, name: str) -> argparse.ArgumentParser:
    """The parser of a command line, with the options of the verb in it alone."""
    parser = argparse.ArgumentParser(prog=name, description="Declarative, durable cron on Temporal.")
    parser.add_argument("--version", action="version", version=f"{name} {__version__}")
    parsers = parser.add_subparsers(title="verbs", required=True, metavar="VERB")
    for verb, (summary, module) in verbs.items():
        added = parsers.add_parser(verb, help=summary)
        if verb in words:
            import_module(module).configure(added)
    return parser


if __name__ == "__main__":
    main()
