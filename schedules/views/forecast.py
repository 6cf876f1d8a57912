"""A forecast as tables and as JSON. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from activities.occurrence import stamp
from schedules.times.moment import local_text
from schedules.views.occurrences import span_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from schedules.ledger.forecast import Effect, Forecast, JobForecast, Planned

COLUMNS = ("job", "starts", "first", "last", "catch-up", "if nothing could start until the end")


def forecast_json(found: Forecast) -> dict[str, Any]:
    """Times are RFC 3339 in UTC; `effect` is null where the policies of a job are not known."""
    return {
        "from": stamp(found.start),
        "to": stamp(found.end),
        "starts": found.starts,
        "jobs": [_job_json(each) for each in found.jobs],
        "paused": [_job_json(each) for each in found.paused],
        "minutes": [{"minute": stamp(minute), "starts": count} for minute, count in found.minutes.items()],
        "crowded": [{"minute": stamp(minute), "starts": count} for minute, count in found.crowded],
        "quiet": [{"from": stamp(begin), "to": stamp(end)} for begin, end in found.quiet],
    }


def rows(found: Forecast) -> Iterator[dict[str, str]]:
    """A row for each job by the names in COLUMNS; times are those of the job's zone."""
    for each in found.jobs:
        zone = each.job.times.timezone
        cells = (
            each.job.name,
            str(len(each.starts)),
            local_text(each.starts[0], zone),
            local_text(each.starts[-1], zone) if len(each.starts) > 1 else "",
            policy_text(each.job),
            effect_text(each.effect),
        )
        yield dict(zip(COLUMNS, cells, strict=True))


def remarks(found: Forecast) -> Iterator[str]:
    """What is said below the table, a line each; times are in UTC."""
    jobs = f"{len(found.jobs):,} job{'' if len(found.jobs) == 1 else 's'}"
    starts = f"{found.starts:,} start{'' if found.starts == 1 else 's'}"
    yield f"{stamp(found.start)} to {stamp(found.end)}: {starts} of {jobs}"
    if found.crowded:
        named = ", ".join(f"{minute:%Y-%m-%d %H:%M} UTC ({count})" for minute, count in found.crowded)
        yield f"most starts in a minute: {named}"
    for begin, end in found.quiet:
        yield f"nothing starts from {begin:%Y-%m-%d %H:%M:%S} to {end:%Y-%m-%d %H:%M:%S} UTC ({span_text(end - begin)})"
    if found.paused:
        yield f"not counted, because they are paused: {', '.join(map(_paused_text, found.paused))}"


def _paused_text(each: JobForecast) -> str:
    until = each.job.resumes_at
    return each.job.name + (f" (until {stamp(until)})" if until else "")


def policy_text(job: Planned) -> str:
    """The job's catch-up policy, or what stands for it."""
    if job.overlap is None:
        return "not read"
    if job.catchup is None:
        return f"the server's, overlap {job.overlap}"
    most = f" of {job.catchup.max_missed}" if job.catchup.policy == "run_all" else ""
    deadline = job.catchup.start_deadline
    return f"{job.catchup.policy}{most}" + (f", start deadline {deadline:g}s" if deadline is not None else "")


def effect_text(effect: Effect | None) -> str:
    """How many would run late, and how many never."""
    if effect is None:
        return "?"
    parts = ((len(effect.late), "late"), (effect.skipped, "not run"), (effect.too_late, "too late"))
    return ", ".join(f"{count} {word}" for count, word in parts if count)


def _job_json(each: JobForecast) -> dict[str, Any]:
    effect, catchup = each.effect, each.job.catchup
    return {
        "job": each.job.name,
        "timezone": each.job.times.timezone,
        "starts": len(each.starts),
        "resumes_at": stamp(each.job.resumes_at) if each.job.resumes_at else None,
        "first": stamp(each.starts[0]),
        "last": stamp(each.starts[-1]),
        "overlap": each.job.overlap,
        "catchup": catchup.policy if catchup else None,
        "effect": {"late": [stamp(at) for at in effect.late], "not_run": effect.skipped, "too_late": effect.too_late}
        if effect
        else None,
    }
