"""Findings about how a job's times are read: two day fields, clock changes, zones, calendars that change nothing."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from schedules.cron import Occurrences
from schedules.cron.compile import compile_pattern
from schedules.cron.compiled import Policy
from schedules.cron.days import Rect, intersection
from schedules.cron.effects import pattern_effects
from schedules.cron.notation.dialects import DIALECTS
from schedules.cron.pattern import Pattern
from schedules.lint.finding import Finding
from schedules.model import Times
from schedules.spec.entries import AtEntry, BusinessDayEntry, CronEntry
from schedules.times.clock_notes import left_out_text, notes
from schedules.times.entries import parse_cached, pattern_at
from schedules.times.horizon import horizon

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from datetime import date, datetime

    from schedules.cron import ClockEffect
    from schedules.spec.job import JobSpec
    from schedules.times.job import JobTimes

DAY_FIELD, WEEKDAY_FIELD, FIELDS = 2, 4, 5
EITHER_DAY = frozenset({"star_prefix", "star_exact"})
PLACES = ((CronEntry, "cron"), (AtEntry, "at"), (BusinessDayEntry, "at"))
SECOND = timedelta(seconds=1)
KINDS = (("missing", "gap"), ("repeated", "repeat"))
ABBREVIATIONS = frozenset(
    {
        "EST",
        "MST",
        "HST",
        "EST5EDT",
        "CST6CDT",
        "MST7MDT",
        "PST8PDT",
        "CET",
        "MET",
        "EET",
        "WET",
        "GMT",
        "GMT0",
        "GMT+0",
        "GMT-0",
        "Greenwich",
        "UCT",
        "Universal",
        "Zulu",
    }
)
PLAIN_UTC = frozenset({"Etc/UTC", "Etc/UCT", "Etc/Universal", "Etc/Zulu"})


def reading_findings(job: JobSpec, times: JobTimes, project: str, now: datetime) -> Iterator[Finding]:
    """Everything that may be read otherwise than it was meant, as seen at an aware instant."""
    yield from _zone(job, times.times.timezone)
    for index, entry in enumerate(job.schedule):
        if isinstance(entry, CronEntry):
            yield from _day_fields(job, entry, index, f"{project}/{job.name}", now)
    yield from _clock_changes(job, times, project, now)
    if left_out := left_out_text(times.left_out, times.times.timezone, now):
        yield Finding("dst-left-out", left_out, ("schedule",), job.name)
    if job.on_holiday != "skip" and not (job.only or job.without):
        message = f"{job.on_holiday} moves runs off days that `only` or `except` exclude, and the job has neither; add one of them"
        yield Finding("nothing-to-move", message, ("on_holiday",), job.name)


def _zone(job: JobSpec, timezone: str) -> Iterator[Finding]:
    if timezone in ABBREVIATIONS or (timezone.startswith("Etc/") and timezone not in PLAIN_UTC):
        message = f"{timezone} is an abbreviation or a fixed offset, not the clock of a place; write a city such as Europe/Berlin, or UTC"
        prefixed = (
            index
            for index, entry in enumerate(job.schedule)
            if isinstance(entry, CronEntry) and f"TZ={timezone} " in entry.cron
        )
        index = None if timezone == job.timezone else next(prefixed, None)
        path = ("timezone",) if index is None else ("schedule", index, "cron")
        yield Finding("zone-fixed-offset", message, path, job.name)


def _day_fields(job: JobSpec, entry: CronEntry, index: int, hash_key: str, now: datetime) -> Iterator[Finding]:
    words = [word for word in entry.cron.split() if not word.startswith(("CRON_TZ=", "TZ="))]
    rule = DIALECTS[entry.dialect].day_rule
    if rule not in EITHER_DAY or len(words) != FIELDS or {words[DAY_FIELD], words[WEEKDAY_FIELD]} & {"*", "?"}:
        return
    by_day, by_weekday = (_without(words, field, entry.dialect, hash_key) for field in (WEEKDAY_FIELD, DAY_FIELD))
    starred = rule == "star_prefix" and any(words[field].startswith("*") for field in (DAY_FIELD, WEEKDAY_FIELD))
    texts = f"day-of-month {words[DAY_FIELD]}", f"day-of-week {words[WEEKDAY_FIELD]}"
    if not starred and (Rect(),) in (by_day.days, by_weekday.days):
        full, other = texts if by_day.days == (Rect(),) else texts[::-1]
        message = f"{full} is every day, so {other} has no effect; write * for one of the two"
    else:
        message = f"{texts[0]} and {texts[1]} are both restricted, and it runs {_either_or_both(by_day, by_weekday, job, now, starred=starred)}"
    yield Finding("both-day-fields", message, ("schedule", index, "cron"), job.name)


def _either_or_both(by_day: Pattern, by_weekday: Pattern, job: JobSpec, now: datetime, *, starred: bool) -> str:
    either = _next(replace(by_day, days=(*by_day.days, *by_weekday.days)), job, now)
    both = _next(replace(by_day, days=intersection(by_day.days, by_weekday.days)), job, now)
    return (
        f"{'only where both match' if starred else 'where either one matches'} (either one: next on {either}; both: next on "
        f"{both}); write two entries for either one, or dialect temporal for both"
    )


def _without(words: list[str], field: int, dialect: str, hash_key: str) -> Pattern:
    text = " ".join("*" if place == field else word for place, word in enumerate(words))
    parsed = parse_cached(text, dialect, hash_key)
    assert isinstance(parsed, Pattern)  # noqa: S101  five fields are nothing else
    return parsed


def _next(pattern: Pattern, job: JobSpec, now: datetime) -> str:
    years = tuple(each.year for each in horizon(now))
    compiled = compile_pattern(
        pattern, "", timezone=job.timezone, policy=Policy(job.dst.gap, job.dst.repeat), years=(years[0], years[1])
    )
    found = Occurrences(Times(compiled.timezone, compiled.calendars, compiled.intervals)).next_after(now)
    return "no date" if found is None else f"{found.astimezone(ZoneInfo(compiled.timezone)):%Y-%m-%d}"


def _clock_changes(job: JobSpec, times: JobTimes, project: str, now: datetime) -> Iterator[Finding]:
    """What is met first where the job does not say what it wants."""
    for index, entry in enumerate(job.schedule):
        met = sorted(_met(job, times, index, project, now), key=lambda effect: effect.local)
        if not met:
            continue
        runs = Occurrences(times.times)
        firsts = {key: effect for kind, key in KINDS if not _says(job, key) and (effect := _first(met, kind, runs))}
        if firsts:
            told = "; ".join(_effect_text(effect, times.times.timezone) for effect in firsts.values())
            path = ("schedule", index, next(name for kind, name in PLACES if isinstance(entry, kind)))
            yield Finding("dst-unspecified", f"{told}; {_advice(job, firsts)}", path, job.name)


def _met(job: JobSpec, times: JobTimes, index: int, project: str, now: datetime) -> Iterator[ClockEffect]:
    """The clock changes that the times of an entry meet, those of moved runs and business days included."""
    entry, policy = job.schedule[index], Policy(job.dst.gap, job.dst.repeat)
    patterns = [pattern for place, pattern in times.on_days if place == index]
    if isinstance(entry, CronEntry) and times.clocks_until is not None:
        parsed = parse_cached(entry.cron, entry.dialect, f"{project}/{job.name}")
        patterns += [parsed] if isinstance(parsed, Pattern) else []
    elif isinstance(entry, AtEntry) and entry.at.tzinfo is None:
        patterns.append(pattern_at(entry.at))
    until = max(end for end in (times.clocks_until, horizon(now)[1]) if end)
    for pattern in patterns:
        yield from pattern_effects(pattern, policy, timezone=job.timezone, start=now, end=until)


def _first(effects: Iterable[ClockEffect], kind: str, runs: Occurrences) -> ClockEffect | None:
    """The first of its kind that is not on a day that is excluded or left out: one for each day tells."""
    by_day: dict[date, ClockEffect] = {}
    for effect in effects:
        if effect.kind == kind:
            by_day.setdefault(effect.local.date(), effect)
    return next((effect for effect in by_day.values() if _happens(effect, runs)), None)


def _happens(effect: ClockEffect, runs: Occurrences) -> bool:
    return not effect.instants or any(runs.next_after(at - SECOND) == at for at in effect.instants)


def _advice(job: JobSpec, firsts: Mapping[str, ClockEffect]) -> str:
    usual = {"gap": "run_after", "repeat": "first"}
    keys = ", ".join(f"{key}: {usual[key]}" for key in firsts)
    write = (
        f"add {keys} to dst" if "dst" in job.model_fields_set and job.dst.model_fields_set else f"write dst: {{{keys}}}"
    )
    return f"{write} if that is meant, or another policy"


def _says(job: JobSpec, key: str) -> bool:
    return "dst" in job.model_fields_set and key in job.dst.model_fields_set


def _effect_text(effect: ClockEffect, timezone: str) -> str:
    return f"on {effect.local:%Y-%m-%d} " + " and ".join(note.text for note in notes([effect], timezone))
