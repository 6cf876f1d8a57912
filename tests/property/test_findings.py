"""Every finding of lint can fire, says what it knows, and can be switched off for a job."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from schedules.lint.finding import Finding
from schedules.lint.findings import findings
from schedules.spec.calendars import CalendarSet, CalendarSpec
from schedules.spec.finding_ids import IDS
from schedules.spec.project import Project
from schedules.times.job import job_times
from tests.factories import job

if TYPE_CHECKING:
    from schedules.spec.job import JobSpec

NOW = datetime(2027, 3, 1, tzinfo=UTC)
CALENDARS = {
    "freeze": CalendarSpec.model_validate({"dates": ["2027-12-24"]}),
    "far": CalendarSpec.model_validate({"dates": ["2035-01-05"]}),
    "easter": CalendarSpec.model_validate({"dates": ["2027-03-26..2027-03-27"]}),
    "working": CalendarSpec.model_validate({"weekdays": ["mon", "tue", "wed", "thu", "fri"]}),
    "most": CalendarSpec.model_validate({"weekdays": ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]}),
    "us": CalendarSpec.model_validate({"holidays": "US"}),
}

EXCEPT_FREEZE: dict[str, Any] = {"except": ["freeze"]}


def found(*jobs: JobSpec, limit: float = 30, quiet: bool = False, calendars: bool = False) -> list[Finding]:
    given = CalendarSet("jobs.yaml", CALENDARS, frozenset(each.name for each in jobs))
    project = Project("p", "default", jobs, calendars=(given,) if calendars else ())
    times = {each.name: job_times(each, "p", NOW, project.calendars_of(each.name)) for each in jobs}
    return list(findings(project, times, NOW, limit=limit, quiet=quiet))


def direct(**limits: str) -> dict[str, Any]:
    """A workflow that the schedule starts itself: the job's timeout is not its."""
    return {"workflow": {"type": "Close", "direct": limits}}


ECHO: dict[str, Any] = {"command": ["echo"]}
FORKED = [
    {"name": "a", **ECHO},
    {"name": "b", **ECHO, "needs": ["a"], "timeout": "2m"},
    {"name": "c", **ECHO, "needs": ["a"], "timeout": "4m"},
    {"name": "d", **ECHO, "needs": ["b", "c"]},
]

CASES: list[tuple[str, dict[str, Any], str]] = [
    ("never-fires", {"schedule": "0 0 30 2 *"}, "never fires: no such date exists"),
    ("never-fires", {"schedule": {"at": "2027-12-24T09:00"}, "except": ["freeze"]}, "leave no day"),
    (
        "never-fires",
        {"schedule": {"cron": "cron(0 9 ? * 1 2150)", "dialect": "eventbridge"}},
        "the server supports only the years 2000 to 2100",
    ),
    ("never-fires", {"schedule": "0 0 30 2 *", "except": ["us"]}, "never fires: no such date exists"),
    ("dead-entry", {"schedule": ["0 0 30 2 *", "0 9 * * *"]}, "never fires: no such date exists"),
    ("dead-entry", {"schedule": ["0 9 * * *", "0 0 31 4,6 *"]}, "no such date exists"),
    ("beyond-horizon", {"schedule": "0 9 * * *", "only": ["far"], "except": []}, "no time before 2031-01-01"),
    (
        "beyond-horizon",
        {"schedule": {"at": "2035-01-05T09:00"}, "only": ["far"], "except": []},
        "no time before 2031-01-01",
    ),
    ("ended", {"schedule": {"at": "2027-02-28T09:00"}}, "its last time was 2027-02-28T14:00:00Z"),
    ("ended", {"schedule": {"cron": "0 0 12 * * ? 2025", "dialect": "quartz"}}, "2025-12-31T17:00:00Z"),
    (
        "fires-rarely",
        {"schedule": {"cron": "0 0 29 2 1", "dialect": "temporal"}, "timezone": "UTC"},
        "next on 2044-02-29 and 2072-02-29",
    ),
    (
        "both-day-fields",
        {"schedule": "0 0 13 * 5", "timezone": "UTC"},
        "runs where either one matches (either one: next on 2027-03-05; both: next on 2027-08-13)",
    ),
    (
        "both-day-fields",
        {"schedule": "0 0 */2 * 1", "timezone": "UTC"},
        "runs only where both match (either one: next on 2027-03-03; both: next on 2027-03-15)",
    ),
    (
        "both-day-fields",
        {"schedule": {"cron": "0 0 */2 * 1", "dialect": "kubernetes"}, "timezone": "UTC"},
        "runs where either one matches",
    ),
    (
        "both-day-fields",
        {"schedule": "0 0 1-31 * 5", "timezone": "UTC"},
        "day-of-month 1-31 is every day, so day-of-week 5 has no effect; write * for one of the two",
    ),
    ("dst-unspecified", {"schedule": "30 2 * * *"}, "on 2027-03-14 02:30 does not exist, runs 03:00"),
    ("dst-unspecified", {"schedule": "30 1 * * *"}, "on 2027-11-07 01:30 happens twice, runs the first time"),
    ("dst-unspecified", {"schedule": "30 2 * * *", "dst": {"repeat": "both"}}, "02:30 does not exist"),
    ("dst-unspecified", {"schedule": "30 1 * * *"}, "write dst: {repeat: first} if"),
    ("dst-unspecified", {"schedule": "30 1,2 * * *"}, "write dst: {gap: run_after, repeat: first} if"),
    ("dst-unspecified", {"schedule": "30 1,2 * * *", "dst": {"gap": "skip"}}, "add repeat: first to dst if"),
    (
        "dst-unspecified",
        {"schedule": {"at": "2027-10-31T02:30"}, "timezone": "Europe/Berlin"},
        "on 2027-10-31 02:30 happens twice, runs the first time; write dst: {repeat: first} if",
    ),
    (
        "dst-unspecified",  # 28 February 2027 is a Sunday, 28 March 2027 as well; it moves to Sunday of the change
        {
            "schedule": "30 2 26 3 *",
            "timezone": "Europe/Berlin",
            "except": ["easter"],
            "on_holiday": "next_business_day",
            "only": ["most"],
        },
        "on 2027-03-28 02:30 does not exist, runs 03:00",
    ),
    (
        "dst-unspecified",  # the last day of October 2027 is a Sunday
        {"schedule": {"business_day": -1, "at": "02:30"}, "timezone": "Europe/Berlin", "only": ["most"], "except": []},
        "on 2027-10-31 02:30 happens twice",
    ),
    (
        "dst-left-out",
        {"schedule": {"cron": "0-59 0-59 2 * * ?", "dialect": "quartz"}, "timezone": "Europe/Berlin"},
        "on 2027-10-31 it does not run in the hours concerned, nor on 3 more such days",
    ),
    ("interval-drift", {"schedule": {"every": "7h"}}, "7h does not divide a day"),
    ("interval-drift", {"schedule": "@every 35m"}, "35m does not divide a day"),
    ("interval-drift", {"schedule": {"every": "36h"}}, "1d12h does not divide a day"),
    ("faster-than-timeout", {"schedule": {"every": "2m"}}, "may take 5m, but it runs every 2m"),
    ("faster-than-timeout", {"schedule": "0,1 8 * * *"}, "may take 5m, but it runs every 1m"),
    ("faster-than-timeout", {"schedule": ["0 9 * * *", "0,1 3 1 2 *"]}, "but it runs every 1m"),
    (
        "faster-than-timeout",
        {"schedule": {"every": "2m"}, "run": direct(run_timeout="1h", execution_timeout="3m")},
        "one run may take 3m, but it runs every 2m: with overlap skip, times are left out while a run is in progress; shorten execution_timeout",
    ),
    (
        "faster-than-timeout",  # 5m, then 2m beside 4m, then 5m
        {"schedule": "*/10 * * * *", "run": None, "steps": FORKED},
        "a run without further attempts may take 14m, but it runs every 10m",
    ),
    (
        "not-compensated",
        {"overlap": "terminate_other", "run": None, "steps": [{"name": "post", **ECHO, "compensate": ECHO}]},
        "post cannot be compensated; choose cancel_other",
    ),
    # From Friday 17:59 to Monday 09:00 is 63 h 1 min, in which the server holds 540 runs, and nearly 540 of the day before.
    (
        "catch-up-crowd",
        {"schedule": "* 9-17 * * 1-5", "overlap": "allow_all", "timeout": "30s"},
        "up to 2d15h1m10s old",
    ),
    ("zone-fixed-offset", {"timezone": "Greenwich"}, "Greenwich is an abbreviation"),
    ("zone-fixed-offset", {"timezone": "Zulu"}, "or UTC"),
    ("zone-fixed-offset", {"timezone": "UCT"}, "or UTC"),
    ("zone-fixed-offset", {"timezone": "EST"}, "EST is an abbreviation or a fixed offset"),
    ("zone-fixed-offset", {"timezone": "Etc/GMT+5"}, "Etc/GMT+5 is an abbreviation"),
    ("zone-fixed-offset", {"schedule": "CRON_TZ=GMT 0 8 * * *"}, "GMT is an abbreviation"),
    ("nothing-to-move", {"on_holiday": "next_business_day"}, "the job has neither"),
    (
        "command-one-text",
        {"run": {"command": ["curl -fsS https://x.example/ping"]}},
        "write one item for each word: [curl, -fsS, https",
    ),
    ("command-one-text", {"run": {"command": ["/usr/bin/curl -fsS x"]}}, "the name of one program"),
    ("command-shell-word", {"run": {"command": ["pg_dump", "shop", "|", "gzip"]}}, "`|` is an ordinary argument here"),
    ("command-shell-word", {"run": {"command": ["echo", "hi", ">>", "log"]}}, "`>>` is an ordinary argument here"),
    ("command-variable", {"run": {"command": ["ls", "$HOME"]}}, "no shell replaces"),
    ("command-variable", {"run": {"command": ["tar", "czf", "~/b.tgz", "/etc"]}}, "no shell replaces"),
    ("command-variable", {"run": {"command": ["tar", "czf", "b-`date`.tgz", "/etc"]}}, "no shell replaces"),
    ("shell-pipe", {"run": {"command": {"argv": ["pg_dump shop | gzip > x"], "shell": True}}}, "a pipe succeeds if"),
    *(
        ("shell-pipe", {"run": {"command": [*words, "a | b"]}}, "a pipe succeeds if")
        for words in (
            ["bash", "-c"],
            ["sh", "-c"],
            ["/bin/bash", "-ec"],
            ["/usr/bin/env", "bash", "-lc"],
            ["bash", "-euxc"],
            ["bash", "-e", "-u", "-c"],
            ["bash", "-c", "-e"],
            ["bash", "-o", "errexit", "-c"],
        )
    ),
    ("shell-pipe", {"run": {"container": {"image": "i", "command": ["sh", "-c", "a | b"]}}}, "a pipe succeeds if"),
    ("shell-pipe", {"run": {"container": {"image": "i", "command": ["sh"], "args": ["-c", "a|b"]}}}, "a pipe succeeds"),
    (
        "shell-pipe",
        {"run": {"kubernetes": {"namespace": "n", "image": "i", "command": ["sh", "-c", "a | b"]}}},
        "a pipe",
    ),
    ("shell-background", {"run": {"command": ["bash", "-c", "nohup ./x.sh"]}}, "killed when the shell ends"),
    ("shell-background", {"run": {"command": {"argv": ["nohup ./x.sh"], "shell": True}}}, "killed when the shell ends"),
    (
        "shell-background",
        {"run": {"command": {"argv": ["./x.sh > log &"], "shell": True}}},
        "killed when the shell ends",
    ),
    ("template-foreign", {"run": {"command": ["./x", "{{ ds }}"]}}, "a template of another system"),
    (
        "template-foreign",
        {"run": {"http": {"url": "http://a/", "body": "${{ secrets.X }}"}}},
        "a template of another system",
    ),
    ("crontab-percent", {"run": {"command": ["date", "+\\%Y"]}}, "is how a crontab writes `%`"),
    ("label-renamed", {"labels": {"severity": "low"}}, "this one becomes `exported_severity` there"),
    (
        "secret-ordinary",
        {"run": {"command": {"argv": ["x"], "env": {"U": "${secret:DB_USER}"}}}},
        "`DB_USER` is a secret",
    ),
    ("secret-ordinary", {"run": {"http": {"url": "https://${secret:host}/"}}}, "`host` is a secret"),
]


@pytest.mark.parametrize(("kind", "fields", "said"), CASES)
def test_a_finding_fires_and_is_switched_off_for_the_job(kind: str, fields: dict[str, Any], said: str) -> None:
    (finding,) = [each for each in found(job(**fields), calendars="except" in fields) if each.id == kind]
    switched_off = found(job(**fields, lint={"ignore": [kind]}), calendars="except" in fields)

    assert said in finding.message
    assert finding.job == "invoice-dunning"
    assert kind not in {each.id for each in switched_off}


@pytest.mark.parametrize(
    ("kind", "fields"),
    [
        ("never-fires", {"schedule": "0 0 29 2 *"}),
        ("never-fires", {"schedule": "0 9 * * *", "only": ["far"]}),
        ("dead-entry", {"schedule": ["0 0 29 2 *", "0 9 * * *"]}),
        ("dead-entry", {"schedule": "0 0 30 2 *"}),
        ("beyond-horizon", {"schedule": "0 9 * * *", "except": ["us"]}),
        ("dst-horizon", {"schedule": {"cron": "0-59 0-59 2 * * ?", "dialect": "quartz"}, "timezone": "Europe/Berlin"}),
        ("dst-left-out", {"schedule": "0-59 0-23 * * *"}),
        ("dst-left-out", {"schedule": {"cron": "0-59 0-59 2 * * ?", "dialect": "quartz"}}),
        (
            "dst-unspecified",
            {"schedule": {"at": "2027-10-31T02:30"}, "timezone": "Europe/Berlin", "dst": {"repeat": "both"}},
        ),
        ("dst-unspecified", {"schedule": {"at": "2027-10-31T02:30+01:00"}, "timezone": "Europe/Berlin"}),
        ("faster-than-timeout", {"schedule": ["0 9 * * *", "5 3 1 2 *"]}),
        ("never-fires", {"schedule": {"at": "2020-01-01T09:00"}}),
        ("ended", {"schedule": {"at": "2027-03-01T09:00"}}),
        ("fires-rarely", {"schedule": "0 0 29 2 *"}),
        ("fires-rarely", {"schedule": {"at": "2040-01-01T09:00"}}),
        ("fires-rarely", {"schedule": "0 9 24 12 *", "only": ["freeze"]}),
        ("both-day-fields", {"schedule": "0 0 13 * *"}),
        ("both-day-fields", {"schedule": "0 0 ? * 5"}),
        ("both-day-fields", {"schedule": {"cron": "0 0 13 * 5", "dialect": "temporal"}}),
        ("dst-unspecified", {"schedule": "0 8 * * *"}),
        ("dst-unspecified", {"schedule": "*/30 2 * * *"}),
        ("dst-unspecified", {"schedule": "30 2 * * *", "timezone": "Asia/Kolkata"}),
        ("dst-unspecified", {"schedule": "30 2 * * *", "dst": {"gap": "run_after"}}),
        ("dst-unspecified", {"schedule": "30 2 * * 1-5"}),
        ("dst-unspecified", {"schedule": "30 2 * * *", "only": ["working"], "except": []}),  # changes are on Sundays
        ("dst-unspecified", {"schedule": {"at": "2027-10-31T02:30"}, "timezone": "Europe/Berlin", "only": ["working"]}),
        ("interval-drift", {"schedule": {"every": "6h"}}),
        ("interval-drift", {"schedule": {"every": "2d"}}),
        ("interval-drift", {"schedule": "*/7 * * * *"}),
        ("faster-than-timeout", {"schedule": {"every": "5m"}}),
        ("faster-than-timeout", {"schedule": {"every": "14m"}, "run": None, "steps": FORKED}),
        ("faster-than-timeout", {"schedule": {"every": "8m"}, "run": None, "steps": FORKED, "deadline": "8m"}),
        (
            "not-compensated",
            {"overlap": "cancel_other", "run": None, "steps": [{"name": "a", **ECHO, "compensate": ECHO}]},
        ),
        ("not-compensated", {"overlap": "terminate_other", "run": None, "steps": [{"name": "a", **ECHO}]}),
        ("faster-than-timeout", {"schedule": {"every": "2m"}, "overlap": "allow_all"}),
        ("faster-than-timeout", {"schedule": {"every": "2m"}, "run": direct()}),
        ("faster-than-timeout", {"schedule": {"every": "2m"}, "run": direct(run_timeout="2m")}),
        ("catch-up-crowd", {"schedule": "* 9-17 * * 1-5"}),
        ("catch-up-crowd", {"schedule": "* * * * *", "overlap": "allow_all"}),
        (
            "catch-up-crowd",
            {"schedule": "* * * * *", "overlap": "buffer_all", "catchup": {"policy": "run_all", "max_missed": 300}},
        ),
        ("zone-fixed-offset", {"timezone": "UTC"}),
        ("zone-fixed-offset", {"timezone": "Etc/UTC"}),
        ("zone-fixed-offset", {"timezone": "America/New_York"}),
        ("nothing-to-move", {"on_holiday": "next_business_day", "except": ["freeze"]}),
        ("command-one-text", {"run": {"command": ["/opt/my tool/run"]}}),
        ("command-one-text", {"run": {"command": ["./run.sh", "a b"]}}),
        ("command-shell-word", {"run": {"command": ["sh", "-c", "a | b", "|"]}}),
        ("command-shell-word", {"run": {"command": ["grep", "a|b", "-"]}}),
        ("command-variable", {"run": {"command": ["bash", "-c", "ls $HOME"]}}),
        ("command-variable", {"run": {"command": ["echo", "costs 5$", "a~b"]}}),
        ("shell-pipe", {"run": {"command": {"argv": ["set -o pipefail; a | b"], "shell": True}}}),
        ("shell-pipe", {"run": {"command": {"argv": ["a || grep 'b|c' d >| e"], "shell": True}}}),
        ("shell-pipe", {"run": {"command": ["bash", "-o", "pipefail", "-c", "a | b"]}}),
        ("shell-pipe", {"run": {"command": ["bash", "-eo", "pipefail", "-c", "a | b"]}}),
        ("shell-pipe", {"run": {"command": ["bash", "-c", "set -euo pipefail; a | b"]}}),
        ("shell-pipe", {"run": {"command": ["bash", "-c", "a || b"]}}),
        ("shell-pipe", {"run": {"command": ["bash", "./run.sh", "a | b"]}}),
        ("shell-pipe", {"run": {"command": ["grep", "-c", "a | b", "bash"]}}),
        ("shell-background", {"run": {"command": {"argv": ["a & b & wait"], "shell": True}}}),
        ("shell-background", {"run": {"command": {"argv": ["a && b 2>&1; curl 'x?a=1&b=2' &> log"], "shell": True}}}),
        ("template-foreign", {"run": {"command": {"argv": ["echo ${{HOME}} | awk '{{ print $1 }}'"], "shell": True}}}),
        ("template-foreign", {"run": {"command": ["docker", "ps", "--format", "{{json}}"]}}),
        ("crontab-percent", {"run": {"command": ["date", "+%Y"]}}),
        ("label-renamed", {"labels": {"cost-center": "7", "namespace": "shop"}}),
        (
            "secret-ordinary",
            {"run": {"http": {"url": "https://x.internal/", "headers": {"A": "${secret:USER_TOKEN}"}}}},
        ),
    ],
)
def test_what_is_right_is_not_found(kind: str, fields: dict[str, Any]) -> None:
    assert kind not in {each.id for each in found(job(**fields), calendars=True)}


def test_a_dead_entry_and_a_zone_in_an_expression_are_told_at_their_place() -> None:
    told = found(job(schedule=["0 9 * * *", "CRON_TZ=EST 0 0 30 2 *", "CRON_TZ=EST 0 9 * * *"], timezone="EST"))
    assert [each.path for each in told if each.id == "dead-entry"] == [("schedule", 1, "cron")]
    assert [each.path for each in told if each.id == "zone-fixed-offset"] == [("timezone",)]
    (zone,) = [each for each in found(job(schedule="CRON_TZ=GMT 0 9 * * *")) if each.id == "zone-fixed-offset"]
    assert zone.path == ("schedule", 0, "cron")


def test_a_night_that_is_left_out_is_not_told_to_run() -> None:
    dense = {"cron": "0-59 0-59 2 * * ?", "dialect": "quartz"}
    told = {each.id: each.message for each in found(job(schedule=dense, timezone="Europe/Berlin"))}
    assert "02:00 does not exist" in told["dst-unspecified"]
    assert "happens twice" not in told["dst-unspecified"]


def test_an_unused_calendar_is_found_in_its_file() -> None:
    unused = [each for each in found(job(**EXCEPT_FREEZE), calendars=True) if each.id == "calendar-unused"]

    names = ("far", "easter", "working", "most", "us")
    assert {(each.file, each.path) for each in unused} == {("jobs.yaml", ("calendars", name)) for name in names}


def test_the_ends_of_what_is_known_are_told_once_for_all_jobs() -> None:
    fields: dict[str, Any] = {"schedule": "30 2 * * *", "except": ["us"]}
    jobs = [job(name, **fields) for name in ("a", "b")]

    told = {each.id: each for each in found(*jobs, calendars=True) if each.severity == "info"}

    assert "until 2031-01-01, for 2 jobs" in told["dst-horizon"].message
    assert "until 2031-01-01, for 2 jobs" in told["calendar-horizon"].message


def test_a_watchdog_that_depends_on_what_it_watches_is_told_once_for_its_queue() -> None:
    watched = [job(f"j{number}", on_missed=["ops"]) for number in range(3)]
    own = [each for each in found(*watched) if each.id == "watchdog-on-own-queue"]
    assert [each.severity for each in own] == ["info"]
    assert own[0].message.startswith("`on_missed` of j0, j1, j2 is watched from the task queue `tickwright` that")
    for jobs in (
        [*watched, job("side", task_queue="side")],
        [job("a", on_missed={"channels": ["ops"], "task_queue": "eyes"})],
        [job("a", on_missed=["ops"], lint={"ignore": ["watchdog-on-own-queue"]})],
    ):
        assert "watchdog-on-own-queue" not in {each.id for each in found(*jobs)}


def test_a_crowded_minute_is_told_with_what_would_help() -> None:
    jobs = [job(f"job-{n}", schedule="0 0 * * *", timezone="UTC") for n in range(120)]

    (finding,) = [each for each in found(*jobs) if each.id == "crowded"]

    assert "00:00 UTC (120 in a second, on 35 of 35 days)" in finding.message
    assert "jitter of at least 4s" in finding.message


def test_jobs_that_say_so_are_not_counted_in_a_crowd() -> None:
    crowd = {"schedule": "0 0 * * *", "timezone": "UTC"}
    jobs = [job(f"job-{n}", **crowd, lint={"ignore": ["crowded"]} if n < 100 else {}) for n in range(120)]

    assert "crowded" not in {each.id for each in found(*jobs)}
    assert "crowded" in {each.id for each in found(*jobs, limit=19)}


@pytest.mark.parametrize("fields", [{"schedule": "H 0 * * *"}, {"schedule": "0 0 * * *", "jitter": "1m"}])
def test_what_is_proposed_against_a_crowd_helps(fields: dict[str, Any]) -> None:
    jobs = [job(f"job-{n}", timezone="UTC", **fields) for n in range(120)]

    assert "crowded" not in {each.id for each in found(*jobs)}


def test_quiet_windows_are_told_when_asked_for() -> None:
    jobs = [job("a", schedule="10 3 * * *", timezone="UTC"), job("b", schedule="40 4 * * 1-5", timezone="UTC")]

    told = [each.message for each in found(*jobs, quiet=True) if each.id == "quiet-window"]

    assert told == [
        "nothing starts between 04:41 and 24:00 UTC on weekdays",
        "nothing starts between 00:00 and 03:10 UTC on weekdays",
        "nothing starts between 03:11 and 04:40 UTC on weekdays",
        "nothing starts between 03:11 and 24:00 UTC on weekends",
        "nothing starts between 00:00 and 03:10 UTC on weekends",
    ]
    assert "quiet-window" not in {each.id for each in found(*jobs)}


def test_every_kind_of_finding_is_tested_here() -> None:
    text = {kind for kind, _, _ in CASES}
    of_projects = {
        "calendar-unused",
        "watchdog-on-own-queue",
        "crowded",
        "quiet-window",
        "dst-horizon",
        "calendar-horizon",
    }
    assert set(IDS) - text == of_projects
