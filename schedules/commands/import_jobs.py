"""`tickwright import SOURCE…`: specs from the schedules that people have, with a proof that they mean the same."""

from __future__ import annotations

import difflib
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from schedules.console.terminal import STDOUT, say
from schedules.errors import SettingsError
from schedules.text.duration import parse_duration
from schedules.text.zone import check_timezone

if TYPE_CHECKING:
    import argparse

    from schedules.importing.imported import Imported, Settings

DONE, FAILED, QUESTIONS = 0, 1, 3
FORMATS = (
    *("crontab", "cron.d", "cronjob", "systemd", "celery", "eventbridge", "airflow", "apscheduler"),
    *("github", "argo", "nomad", "sidekiq-cron", "solid-queue", "app-engine"),
)


def configure(parser: argparse.ArgumentParser) -> None:
    """Declares the command's options on `parser`."""
    parser.description = (
        "Write a spec file from the jobs of another system, and a report that compares the times of both systems over a year. "
        "Nothing that is imported is run. "
        "Exit codes: 0 every job is written; 1 the file exists and differs, or with --strict a job is not exact; "
        "2 wrong call or source; 3 a job needs an answer."
    )
    parser.add_argument("sources", nargs="+", metavar="SOURCE", help="file, folder of files, or - for standard input")
    parser.add_argument(
        "--from",
        dest="kind",
        choices=FORMATS,
        metavar="FORMAT",
        help=f"{', '.join(FORMATS)} (default: recognised from the file, if there is no doubt)",
    )
    parser.add_argument(
        "--timezone",
        required=True,
        metavar="TZ",
        help="time zone for sources that name none: that of the machine on which the jobs run now",
    )
    parser.add_argument("--timeout", required=True, metavar="D", help="longest time for one attempt, for example 1h")
    parser.add_argument(
        "--project", default="imported", metavar="P", help="project of the spec file (default: imported)"
    )
    parser.add_argument("-o", dest="file", metavar="FILE", help="spec file to write (default: standard output)")
    parser.add_argument("--force", action="store_true", help="overwrite FILE although it was changed")
    parser.add_argument("--strict", action="store_true", help="exit with 1 unless every job is exact")
    parser.add_argument(
        "--output",
        choices=["text", "json", "markdown"],
        default="text",
        help="form of the report; json and markdown: one document on stdout",
    )
    parser.set_defaults(execute=execute)


def execute(options: argparse.Namespace) -> int:
    """Runs the command; its exit code. Raises SettingsError or SourceError with what is wrong."""
    from schedules.importing.imported import import_jobs
    from schedules.importing.sources import load_sources

    settings = _settings(options)
    loaded = load_sources(options.sources, options.kind, settings.timezone)
    found = import_jobs(loaded, settings, datetime.now(UTC))
    differs = options.file is not None and _differs(Path(options.file), found.text, force=options.force)
    _report(found, options)
    if options.file is not None and not differs:
        _write(Path(options.file), found.text)
    if differs:
        return FAILED
    if found.counts["decide"] or found.counts["cannot"] or found.unread:
        return QUESTIONS
    return FAILED if options.strict and found.counts["changed"] else DONE


def _settings(options: argparse.Namespace) -> Settings:
    from schedules.importing.imported import Settings
    from schedules.spec.fields import check_owner_part

    for option, value, check in (
        ("--timezone", options.timezone, check_timezone),
        ("--timeout", options.timeout, parse_duration),
        ("--project", options.project, check_owner_part),
    ):
        try:
            check(value)
        except ValueError as error:
            raise SettingsError(f"{option}: {error}") from None
    return Settings(options.project, options.timezone, options.timeout)


def _differs(path: Path, text: str, *, force: bool) -> bool:
    """Whether the file is there with other text, which is then shown; with --force it is overwritten all the same."""
    try:
        there = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return False
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path}: {error}") from None
    if there == text or force:
        return False
    difference = difflib.unified_diff(there.splitlines(), text.splitlines(), str(path), "imported now", lineterm="")
    say("\n".join(difference))
    say(f"{path} exists and differs; nothing was written. Write --force to overwrite it, or another -o")
    return True


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise SettingsError(f"{path}: {error.strerror}") from None


def _report(found: Imported, options: argparse.Namespace) -> None:
    from schedules.importing import report

    match options.output:
        case "json":
            STDOUT.answer(json.dumps(report.document(found, options.file), indent=2, ensure_ascii=False) + "\n")
        case "markdown":
            STDOUT.answer(report.markdown(found))
        case _:
            if options.file is None:
                print(found.text, end="")  # noqa: T201  the document of the command
            say("\n".join(report.lines(found)))
