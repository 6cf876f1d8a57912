"""`tickwright shadow report --evidence FILE`: whether the new side would have started what the old side did start."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from schedules.commands.options.reading import answer, owner_option, read
from schedules.console.terminal import STDOUT, say
from schedules.errors import SettingsError
from schedules.text.shown import some_of

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator
    from datetime import datetime

    from schedules.importing.comparison import Compared
    from schedules.importing.evidence import OldStart
    from schedules.importing.hand_over import HandedOver
    from schedules.importing.shadow_report import ShadowReport
    from schedules.ledger.records import Records
    from schedules.model import ObservedSchedule
    from schedules.recurrence import Times

EQUAL, DIFFERS = 0, 1
MOST_RUNS = 20_000
SHOWN = 5
LARGEST = 50_000_000


def configure(parser: argparse.ArgumentParser) -> None:
    """Declares the command's options on `parser`."""
    parser.description = (
        "Compare the starts of the old system with the runs of the jobs here, in shadow mode or live: what matched, what only one "
        "of them started, and by how much the times differ."
    )
    parser.add_argument("what", choices=["report"], metavar="report", help="the word `report`")
    parser.add_argument(
        "--evidence",
        required=True,
        metavar="FILE",
        help="cron's lines of syslog, `journalctl -o json`, `kubectl get jobs -o json`, Celery beat's log, or lines of `TIME JOB`; - is standard input",
    )
    parser.add_argument(
        "--timezone", default="UTC", metavar="TZ", help="time zone of times in FILE without an offset (default: UTC)"
    )
    owner_option(parser)
    parser.add_argument("--output", choices=["text", "json"], default="text", help="json: one document on stdout")
    parser.epilog = "Exit codes: 0 every job that both systems have is equal; 1 a job differs, or nothing could be compared; 2 wrong call."
    parser.set_defaults(execute=execute)


def execute(options: argparse.Namespace) -> int:
    """Runs the command; its exit code. Raises TickwrightError for what ends it early."""
    from schedules.text.zone import check_timezone

    try:
        check_timezone(options.timezone)
    except ValueError as error:
        raise SettingsError(f"--timezone: {error}") from None
    text = _text(options.evidence)

    async def work(records: Records, now: datetime) -> int:
        from schedules.importing.evidence import old_starts

        try:
            unreadable: list[str] = []
            starts = list(old_starts(text, options.timezone, now, unreadable))
        except (ValueError, RecursionError) as error:
            raise SettingsError(f"--evidence {options.evidence}: cannot be read: {error}") from None
        if not starts:
            raise SettingsError(
                f"--evidence {options.evidence}: it has no start of a job; `tickwright shadow --help` lists the formats"
            )
        if unreadable:
            say(
                f"--evidence {options.evidence}: left out, since no time can be read there: {some_of(unreadable, SHOWN)}"
            )
        report = await _report(records, options.owner, starts, now)
        if options.output == "json":
            answer(report.document())
        else:
            STDOUT.answer("\n".join(report.lines()) + "\n")
        return EQUAL if report.equal else DIFFERS

    return read(work)


def _text(name: str) -> str:
    try:
        data = sys.stdin.buffer.read(LARGEST + 1) if name == "-" else Path(name).read_bytes()
    except OSError as error:
        raise SettingsError(f"--evidence {name}: {error.strerror}") from None
    if len(data) > LARGEST:
        raise SettingsError(
            f"--evidence {name}: larger than {LARGEST // 1_000_000} MB; cut it to the days that you want to compare"
        )
    return data.decode(errors="replace")


async def _report(records: Records, owner: str | None, starts: list[OldStart], now: datetime) -> ShadowReport:
    """The jobs that the evidence names, over its span, and the keys in it that are of no job."""
    from schedules.cron.occurrences import next_after
    from schedules.importing.comparison import Compared
    from schedules.importing.hand_over import boundary
    from schedules.importing.shadow_report import ShadowReport
    from schedules.server.gateway import TemporalGateway

    since = min(each.at for each in starts)
    until = max(each.at for each in starts)
    by_key: dict[str, list[OldStart]] = {}
    for each in starts:
        by_key.setdefault(each.key, []).append(each)
    jobs: list[Compared | HandedOver] = []
    sides: dict[str, OldStart] = {}
    ready: dict[str, Times] = {}
    known: set[str] = set()
    for name in sorted(job.name for job in await records.jobs(owner)):
        observed = await TemporalGateway(records.client).describe(name)
        keys = set(_keys(observed)) & set(by_key) if observed else set()
        if observed is None or not keys:
            continue
        known |= keys
        old = [start for key in keys for start in by_key[key]]
        found = await _of_job(records, observed, old, since, until, now)
        jobs.append(found)
        if isinstance(found, Compared) and found.equal:
            sides[name], ready[name] = old[-1], observed.times
    moment = boundary(ready.values(), now) if ready else None
    first = {name: at for name, times in ready.items() if moment and (at := next_after(times, moment.at))}
    return ShadowReport(jobs, sorted(set(by_key) - known), moment, sides, first)


async def _of_job(
    records: Records, observed: ObservedSchedule, old: list[OldStart], since: datetime, until: datetime, now: datetime
) -> Compared | HandedOver:
    """One with a `start_at` that is past has been handed over, and its evidence goes on to now."""
    from schedules.importing.comparison import FARTHEST, compare
    from schedules.importing.hand_over import handed_over
    from schedules.ledger.translate import job_from_description

    times, job = observed.times, job_from_description(observed)
    over = times.start_at if times.start_at is not None and times.start_at <= now else None
    found = await records.runs_of(job, since - FARTHEST, (now if over else until) + FARTHEST, MOST_RUNS)
    if over:
        ended = [run for run in found.runs if run.closed_at or run.scheduled_at >= over]  # a shadow may go on
        live = [run.scheduled_at for run in ended if run.verdict != "shadow"]
        return handed_over(observed.id, times, live, old, since, now)
    new = [run.scheduled_at for run in found.runs]
    return compare(observed.id, times.timezone, new, [each.at for each in old], since, until)


def _keys(observed: ObservedSchedule) -> Iterator[str]:
    """What may name the job on the old side: its name, its command, its CronJob or entry of beat."""
    from schedules.ledger.translate import job_request

    yield observed.id
    summary = observed.action.summary
    yield summary
    yield summary.removeprefix("CronJob ").rpartition("/")[2]
    request = job_request(observed)
    for step in request.steps if request else ():
        if argv := step.params.get("argv"):
            yield str(argv[-1]).replace("{{", "{").replace("}}", "}")
            yield " ".join(map(str, argv))
