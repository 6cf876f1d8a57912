"""Cron of other programs means what these make of it themselves, over random expressions, where Debian's packages of them are installed.

Go (`golang-go golang-github-robfig-cron-dev golang-github-gorhill-cronexpr-dev`) for Kubernetes and Nomad, Ruby (`ruby-fugit`) for
sidekiq-cron and solid_queue, Java (`default-jdk-headless libquartz2-java`) for Quartz. IMPORT_EXAMPLES says how many of each are tried.
"""

from __future__ import annotations

import os
import random
import re
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest

from schedules.cron.occurrences import occurrences_of
from schedules.importing import fields, plain_star
from schedules.importing.problem import ImportProblem
from schedules.importing.rules import OldRule
from schedules.spec.job import JobSpec
from schedules.times.job import job_times
from tests.property.test_imported_times import EXAMPLES, YEARS, ZONES, field, five, ours, start_of

ENGINES = Path(__file__).parent / "engines"
JARS = ":".join(f"/usr/share/java/{name}.jar" for name in ("quartz2", "slf4j-api", "slf4j-nop"))
GO = {"GO111MODULE": "off", "GOPATH": "/usr/share/gocode"}
CONSTANT = ("UTC", "Asia/Tokyo")
"""Zones in which clocks do not change: cronexpr has rules of its own for such days, which the import tells and does not copy."""


def answers(engine: str, asked: list[tuple[str, str, datetime]], cache: Path) -> list[list[datetime] | None]:
    """What the engine itself says of each expression, None where it refuses it."""
    argv = {
        "fugit": ["ruby", str(ENGINES / "fugit.rb")],
        "quartz": ["java", "-cp", JARS, str(ENGINES / "Quartz.java")],
    }.get(engine, ["go", "run", str(ENGINES / "robfig_cronexpr.go")])
    if shutil.which(argv[0]) is None:
        pytest.skip(f"this machine has no {argv[0]}")
    lines = "".join(f"{engine}\t{text}\t{zone}\t{start:%Y-%m-%dT%H:%M:%SZ}\n" for text, zone, start in asked)
    done = subprocess.run(
        argv, input=lines, capture_output=True, text=True, check=False, env=os.environ | GO | {"GOCACHE": str(cache)}
    )
    if done.returncode:
        pytest.skip(f"this machine has no {engine}: {done.stderr[-200:]}")
    return [
        None if line.startswith("!") else [datetime.fromisoformat(each) for each in line.split()]
        for line in done.stdout.splitlines()
    ]


def by_spec(entry: str, dialect: str, zone: str, start: datetime, count: int) -> list[datetime]:
    """The next times of a job with this entry, over clock changes as written."""
    job = {"name": "job", "timezone": zone, "timeout": "1h", "run": {"command": ["true"]}}
    job |= {"schedule": {"cron": entry, "dialect": dialect}, "dst": {"gap": "skip", "repeat": "both"}}
    times = replace(job_times(JobSpec.model_validate(job), "project", start).times, jitter=0)
    found, at = list[datetime](), start
    while len(found) < count and (following := occurrences_of(times).next_after(at)):
        found.append(at := following)
    return found


def with_starts(dice: random.Random) -> str:
    """Five fields, now and then with a step that begins at a number, which none but Vixie's cron and its kin refuse."""
    parts = five(dice).split()
    if dice.random() < 0.4:
        parts[dice.choice((0, 1))] = f"{dice.randint(0, 20)}/{dice.randint(1, 9)}"
    return " ".join(parts)


def by_kubernetes(text: str, zone: str) -> tuple[OldRule, str]:
    return fields.robfig(text, zone), text


@pytest.mark.parametrize(
    ("engine", "read", "dialect", "zones"),
    [
        ("robfig", by_kubernetes, "kubernetes", ZONES),
        ("cronexpr", plain_star.cronexpr, "cron", CONSTANT),
        ("fugit", plain_star.fugit, "cron", ZONES),
    ],
)
def test_the_old_meaning_and_the_spec_are_what_the_engine_does(
    engine: str, read: Callable[[str, str], tuple[OldRule, str]], dialect: str, zones: tuple[str, ...], tmp_path: Path
) -> None:
    asked = []
    for seed in range(EXAMPLES):
        dice = random.Random(seed)
        asked.append((with_starts(dice), dice.choice(zones), start_of(dice)))
    for (text, zone, start), given in zip(asked, answers(engine, asked, tmp_path), strict=True):
        assert given is not None, text
        expected = [at for at in given if at <= start + YEARS]
        try:
            rule, entry = read(text, zone)
        except ImportProblem as problem:
            # fugit's `5/1`, and Nomad's `31` beside a weekday: a person is asked.
            assert re.search("its first number alone|leaves out its weekdays", str(problem))  # noqa: PT017
            continue
        assert ours(rule, start)[: len(expected)] == expected, text
        assert by_spec(entry, dialect, zone, start, len(expected)) == expected, text


def by_quartz(dice: random.Random) -> str:
    """Six fields. 31W stays out: Quartz 2.3 takes it for a day of the month after, where the month has but thirty."""
    second = dice.choice(("0", "0", "0", field(dice, 0, 59)))
    month = field(dice, 1, 12, ["JAN", "MAR", "DEC"])
    day, weekday = "?", dice.choice((field(dice, 1, 7, ["MON", "FRI", "SUN"]), "6L", "MON#2", "6#5", "L", "2/2"))
    if dice.random() < 0.5:
        day, weekday = dice.choice((field(dice, 1, 31), "L", "LW", "15W", "1W", "L-3", "5/9")), "?"
    return f"{second} {field(dice, 0, 59)} {field(dice, 0, 23)} {day} {month} {weekday}"


def test_the_dialect_quartz_is_what_quartz_does(tmp_path: Path) -> None:
    asked = []
    for seed in range(EXAMPLES):
        dice = random.Random(seed)
        asked.append((by_quartz(dice), dice.choice(ZONES), start_of(dice)))
    for (text, zone, start), given in zip(asked, answers("quartz", asked, tmp_path), strict=True):
        assert given is not None, text
        expected = [at for at in given if at <= start + YEARS]
        assert by_spec(text, "quartz", zone, start, len(expected)) == expected, text
