"""The evaluator that proves imports agrees with the real thing, over random expressions: cronsim, croniter, Celery, APScheduler, systemd.

IMPORT_EXAMPLES says how many expressions of each dialect are tried.
"""

from __future__ import annotations

import os
import random
import re
import shutil
import subprocess
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

import pytest
from apscheduler.triggers.cron import CronTrigger
from celery import Celery
from celery.schedules import crontab
from croniter import croniter
from cronsim import CronSim

from schedules.importing import fields
from schedules.importing.formats import apscheduler_fields as apscheduler
from schedules.importing.formats.oncalendar import parse_oncalendar
from schedules.importing.imported import Settings
from schedules.importing.problem import ImportProblem
from tests.importing import imported

if TYPE_CHECKING:
    from pathlib import Path

    from schedules.importing.rules import OldRule

EXAMPLES = int(os.environ.get("IMPORT_EXAMPLES", "40"))
ZONES = ("Europe/Berlin", "America/New_York", "UTC", "Asia/Tokyo")
COUNT = 12
YEARS = timedelta(days=3 * 366)


def field(dice: random.Random, low: int, high: int, names: list[str] | None = None, *, stepped: bool = True) -> str:
    """A field of a cron expression as people write them."""

    def value() -> str:
        number = dice.randint(low, high)
        return dice.choice(names) if names and dice.random() < 0.3 else str(number)

    def spread() -> str:
        """Never a range of one value, or a step over its end: libraries differ in what they make of these."""
        first, last = sorted(dice.sample(range(low, high + 1), 2))
        step = f"/{dice.randint(1, last - first)}" if stepped and dice.random() < 0.4 else ""
        return f"{first}-{last}{step}"

    kind = dice.random()
    if kind < 0.35:
        return "*"
    if kind < 0.45 and stepped:
        return f"*/{dice.randint(1, min(7, high - low))}"
    return ",".join(dice.choice((value, spread))() for _ in range(dice.choice((1, 1, 1, 2, 3))))


def five(dice: random.Random, weekday: str | None = None) -> str:
    months, days = ["jan", "mar", "dec"], ["mon", "fri", "sun"]
    parts = [field(dice, 0, 59), field(dice, 0, 23), field(dice, 1, 31), field(dice, 1, 12, months)]
    return " ".join((*parts, weekday or field(dice, 0, 6, days)))


def start_of(dice: random.Random) -> datetime:
    """Often on the day before a change of clocks."""
    near = [datetime(2027, 3, 13, 12, tzinfo=UTC), datetime(2027, 3, 27, 12, tzinfo=UTC)]
    near += [datetime(2027, 10, 30, 12, tzinfo=UTC), datetime(2027, 11, 6, 12, tzinfo=UTC)]
    return dice.choice(
        [*near, datetime(2027, dice.randint(1, 12), dice.randint(1, 28), dice.randint(0, 23), tzinfo=UTC)]
    )


def ours(rule: OldRule, start: datetime) -> list[datetime]:
    return list(islice((at for at in rule.between(start, start + YEARS) if at > start), COUNT))


def by_cronsim(text: str, zone: str, start: datetime) -> list[datetime]:
    found = islice(CronSim(text, start.astimezone(ZoneInfo(zone))), COUNT)
    return [at.astimezone(UTC) for at in found if at.astimezone(UTC) <= start + YEARS]


@pytest.mark.parametrize("seed", range(EXAMPLES))
def test_vixie_is_what_debians_cron_does(seed: int) -> None:
    """cronsim follows Debian's cron, its clock changes included."""
    dice = random.Random(seed)
    text, zone, start = five(dice), dice.choice(ZONES), start_of(dice)
    try:
        expected = by_cronsim(text, zone, start)
    except Exception as error:  # noqa: BLE001  cronsim gives up where nothing fires in fifty years
        pytest.skip(str(error))
    assert ours(fields.vixie(text, zone), start)[: len(expected)] == expected, text


@pytest.mark.parametrize("seed", range(EXAMPLES))
def test_airflow_is_what_croniter_says(seed: int) -> None:
    """Far from changes of clocks, where croniter has faults of its own."""
    dice = random.Random(seed)
    text, start = five(dice), start_of(dice)
    each = croniter(text, start, max_years_between_matches=4)
    try:
        expected = [each.get_next(datetime) for _ in range(COUNT)]
    except Exception as error:  # noqa: BLE001  it never fires
        pytest.skip(str(error))
    expected = [at for at in expected if at <= start + YEARS]
    assert ours(fields.airflow(text, "UTC"), start)[: len(expected)] == expected, text


def by_celery(text: str, start: datetime) -> list[datetime]:
    minute, hour, day, month, weekday = text.split()
    app = Celery(set_as_current=False)
    app.conf.timezone = "UTC"
    entry = crontab(minute=minute, hour=hour, day_of_week=weekday, day_of_month=day, month_of_year=month, app=app)
    found, last = list[datetime](), start
    for _ in range(COUNT):
        entry.nowfun = lambda now=last: now
        last += entry.remaining_estimate(last)
        found.append(last)
    return [at for at in found if at <= start + YEARS]


@pytest.mark.parametrize("seed", range(EXAMPLES))
def test_celery_is_what_celery_does(seed: int) -> None:
    dice = random.Random(seed)
    text, start = five(dice), start_of(dice)
    try:
        expected = by_celery(text, start)
    except Exception as error:  # noqa: BLE001  it never fires
        pytest.skip(str(error))
    minute, hour, day, month, weekday = text.split()
    rule = fields.celery(minute, hour, day, month, weekday, "UTC")
    assert ours(rule, start)[: len(expected)] == expected, text


@pytest.mark.parametrize("seed", range(EXAMPLES))
def test_apscheduler_is_what_apscheduler_does(seed: int) -> None:
    """With day fields far from changes of clocks: after one, APScheduler 3.11 leaves out the first hour of the next day."""
    dice = random.Random(seed)
    zone, start = dice.choice(ZONES), start_of(dice)
    given = {"hour": field(dice, 0, 23), "minute": field(dice, 0, 59)}
    if dice.random() < 0.5:
        given["day_of_week"] = field(dice, 0, 6, ["mon", "fri", "sun"])
    if dice.random() < 0.5:
        given["day"] = dice.choice([field(dice, 1, 28), "last", "2nd fri", "last mon"])
    if dice.random() < 0.3:
        given["month"] = field(dice, 1, 12)
    if len(given) > 2:
        start = datetime(2027, 5, dice.randint(1, 20), 12, tzinfo=UTC)
    if dice.random() < 0.3:
        given["minute"] = dice.choice(("*/{}", "5/{}", "15-20/{}")).format(dice.randint(1, 70))
    try:
        trigger = CronTrigger(**given, timezone=ZoneInfo(zone))
    except ValueError:
        with pytest.raises(ImportProblem):
            apscheduler.rule_of(apscheduler.completed(given), zone)
        return
    expected, before, now = list[datetime](), None, start.astimezone(ZoneInfo(zone)) + timedelta(seconds=1)
    while len(expected) < COUNT and (at := trigger.get_next_fire_time(before, now)):
        expected.append(at.astimezone(UTC))
        before = now = at
    rule = apscheduler.rule_of(apscheduler.completed(given), zone)
    end = start + YEARS if len(given) == 2 else datetime(2027, 10, 20, tzinfo=UTC)
    expected = [at for at in expected if at <= end]
    assert ours(rule, start)[: len(expected)] == expected, given


def on_calendar(dice: random.Random) -> str:
    """With steps in the minutes alone: systemd 252 leaves out the first hour or day of such a step when a month begins."""

    def part(low: int, high: int) -> str:
        step = f"{low}/{dice.randint(2, 9)}" if high > 50 else "*"
        return dice.choice(("*", str(dice.randint(low, high)), f"{low}..{dice.randint(low, high)}", step))

    week = dice.choice(("", "Mon..Fri ", "Sat,Sun ", "Fri "))
    end = f"~{dice.choice(('01', '03', '1..5', '09/4', '*'))}"
    day = f"*-{part(1, 12)}{dice.choice((end, f'-{part(1, 28)}', f'-{part(1, 28)}'))} "
    return f"{week}{dice.choice(('', day))}{part(0, 23)}:{part(0, 59)} {dice.choice(ZONES)}"


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="this machine has no systemd-analyze")
@pytest.mark.parametrize("seed", range(EXAMPLES))
def test_systemd_is_what_systemd_analyze_says(seed: int) -> None:
    dice = random.Random(seed)
    text, start = on_calendar(dice), start_of(dice)
    shown = subprocess.run(
        ["systemd-analyze", "calendar", f"--iterations={COUNT}", f"--base-time={start:%Y-%m-%d %H:%M:%S} UTC", text],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "TZ": "UTC"},
    )
    if shown.returncode:  # it gives up after a thousand steps: "Resource deadlock avoided"
        assert "deadlock" in shown.stderr, text
        pytest.skip(shown.stderr)
    stamps = re.findall(r"(?:elapse|#\d+): \w+ (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d) UTC", shown.stdout)
    expected = [datetime.fromisoformat(each).replace(tzinfo=UTC) for each in stamps]
    expected = [at for at in expected if at <= start + YEARS]
    assert ours(parse_oncalendar(text).rule("UTC"), start)[: len(expected)] == expected, text


@pytest.mark.parametrize("seed", range(EXAMPLES // 10))
def test_a_verdict_is_equal_only_where_both_sides_fire_alike(seed: int, tmp_path: Path) -> None:
    """Jobs of one crontab, each compared once more by hand: at the proof's spans, old against new."""
    dice = random.Random(seed)
    zone = dice.choice(ZONES)
    path = tmp_path / "user.crontab"
    path.write_text("".join(f"{five(dice)} /bin/true {number}\n" for number in range(5)), encoding="utf-8")
    found = imported(path, settings=Settings("imported", zone, "1h"))
    for name, job in found.jobs.items():
        proof = found.proofs.get(name)
        assert proof is not None
        assert proof.equal
        start = proof.spans[0][0]
        schedule = str(job.job["schedule"])
        try:
            expected = by_cronsim(schedule, zone, start)
        except Exception:  # noqa: BLE001  it never fires
            continue
        assert job.rule is not None
        assert ours(job.rule, start)[: len(expected)] == expected


def test_what_cron_itself_refuses_is_refused() -> None:
    for text in ("60 * * * *", "* * * * 8", "22-2 * * * *", "* * * foo *", "* * * *"):
        with pytest.raises(ImportProblem):
            fields.vixie(text, "UTC")
