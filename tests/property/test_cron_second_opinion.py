"""croniter and cronsim in UTC as a second opinion; where one differs, the standard that decides is named."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import islice
from random import Random
from typing import TYPE_CHECKING

import pytest
from croniter import croniter
from cronsim import CronSim

from schedules.cron import Occurrences, compile_cron
from schedules.model import Times
from tests.oracle.random_jobs import Writer

if TYPE_CHECKING:
    from collections.abc import Callable

START = datetime(2027, 1, 1, tzinfo=UTC)
COUNT = 15
EXPRESSIONS = 400


def ours(text: str) -> list[datetime]:
    made = compile_cron(text, timezone="UTC", horizon_start=START, horizon_end=START + timedelta(days=1200))
    found = Occurrences(Times("UTC", made.calendars, made.intervals))
    return list(islice(found.between(START + timedelta(seconds=1), datetime(2099, 1, 1, tzinfo=UTC)), COUNT))


def croniters(text: str) -> list[datetime]:
    steps = croniter(text, START, ret_type=datetime)
    return [steps.get_next() for _ in range(COUNT)]


def cronsims(text: str) -> list[datetime]:
    return list(islice(CronSim(text, START), COUNT))


def written() -> list[str]:
    random = Random(5)
    return [Writer(random, "cron").expression() for _ in range(EXPRESSIONS)]


def explained(text: str) -> str | None:
    """The standard by which an expression is read differently elsewhere, or None."""
    day, weekday = text.split()[2], text.split()[4]
    restricted = day != "*" and weekday != "*"
    if restricted and (day[0] == "*" or weekday[0] == "*"):
        return "Vixie's entry.c: a day field that starts with * makes both necessary; croniter asks for a bare *"
    if any(mark in day for mark in "LW") or any(mark in weekday for mark in "#L"):
        return "extensions of Quartz, which no cron standard covers; each library has its own subset"
    if "22-3" in text:
        return "crontab(5) has no wrapped ranges; croniter and we read them, cronsim refuses"
    if "-" in weekday and weekday not in ("MON-FRI", "0-2"):
        return "5-7 and FRI-MON: ranges over Sunday, crontab(5) knows 7 and no wrapping"
    return None


@pytest.mark.parametrize("library", [croniters, cronsims])
def test_plain_crontab_expressions_are_read_alike(library: Callable[[str], list[datetime]]) -> None:
    plain = [text for text in written() if explained(text) is None]
    assert len(plain) > EXPRESSIONS // 3
    assert [text for text in plain if library(text) != ours(text)] == []


def first_days(text: str, count: int = 3) -> list[str]:
    return [f"{each:%Y-%m-%d}" for each in ours(text)[:count]]


def test_a_stepped_star_needs_both_days_as_in_vixie_cron() -> None:
    """entry.c sets DOM_STAR for any field that starts with `*`; croniter takes `*/2` for a restriction (either suffices)."""
    text = "0 0 */2 * 1"
    assert first_days(text) == ["2027-01-11", "2027-01-25", "2027-02-01"]  # odd Mondays
    assert [f"{each:%Y-%m-%d}" for each in croniters(text)[:3]] == ["2027-01-03", "2027-01-04", "2027-01-05"]
    assert cronsims(text) == ours(text)  # cronsim follows Debian's cron


def test_the_last_day_is_read_alike() -> None:
    for text in ("0 0 L * *", "0 0 L 2 *"):
        assert croniters(text)[:5] == cronsims(text)[:5] == ours(text)[:5]


def test_the_nth_and_the_last_weekday_are_read_alike() -> None:
    for nth in range(1, 6):
        assert croniters(f"0 0 * * 5#{nth}") == cronsims(f"0 0 * * 5#{nth}") == ours(f"0 0 * * 5#{nth}")
    assert croniters("0 0 * * L5") == cronsims("0 0 * * 5L") == ours("0 0 * * 5L")  # croniter writes L before the day


def test_the_nearest_weekday_is_that_of_quartz() -> None:
    """CronExpression of Quartz: the nearest Monday to Friday of the same month."""
    assert first_days("0 0 15W * *", 5) == ["2027-01-15", "2027-02-15", "2027-03-15", "2027-04-15", "2027-05-14"]
    assert cronsims("0 0 LW * *") == ours("0 0 LW * *")
    assert croniters("0 0 15W * *") == ours("0 0 15W * *")


def test_the_nearest_weekday_stays_within_the_month() -> None:
    assert "2027-05-03" in first_days("0 0 1W * *", 5)  # 1 May 2027 is a Saturday
    assert "2027-02-26" in first_days("0 0 28W * *", 2)  # 28 February 2027 is a Sunday
    assert first_days("0 0 31W * *", 3) == ["2027-01-29", "2027-03-31", "2027-05-31"]  # 31 January 2027 is a Sunday


def test_sunday_is_both_0_and_7_also_at_the_end_of_a_range() -> None:
    assert croniters("0 0 * * 5-7") == cronsims("0 0 * * 5-7") == ours("0 0 * * 5-7")
    assert ours("0 0 * * FRI-MON") == ours("0 0 * * 0,1,5,6")


def test_a_range_over_midnight_is_read_as_by_croniter() -> None:
    assert croniters("0 22-3 * * *") == ours("0 22-3 * * *") == ours("0 22,23,0,1,2,3 * * *")


def test_a_day_that_never_comes_gives_nothing() -> None:
    assert ours("0 0 30 2 *") == []
