"""The models themselves, as Python code uses them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from pydantic import ValidationError

from schedules.spec.entries import AtEntry, CronEntry, EveryEntry
from schedules.spec.file import Defaults, Environment, SpecFile
from schedules.spec.handlers import RunSpec
from schedules.spec.job import JobSpec
from schedules.spec.kinds.command import CommandSpec
from schedules.spec.kinds.http import HttpSpec
from schedules.spec.kinds.python import PythonSpec
from schedules.spec.kinds.workflow import WorkflowSpec
from schedules.spec.retry import RetrySpec

MODELS = (
    JobSpec, RetrySpec, CronEntry, EveryEntry, AtEntry, RunSpec, HttpSpec, CommandSpec, PythonSpec, WorkflowSpec,
    Defaults, Environment, SpecFile,
)  # fmt: skip


def job(**changes: Any) -> JobSpec:
    keys = {"name": "a", "schedule": "@daily", "timezone": "UTC", "timeout": "5m", "run": {"command": ["a"]}}
    return JobSpec.model_validate(keys | changes)


def refusal(**changes: Any) -> str:
    with pytest.raises(ValidationError) as caught:
        job(**changes)
    (error,) = caught.value.errors()
    return str(error.get("ctx", {}).get("error", error["type"]))


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_every_key_says_what_it_means(model: type[JobSpec]) -> None:
    assert [name for name, field in model.model_fields.items() if not field.description] == []


def test_python_code_writes_values_of_its_own_types() -> None:
    assert job(timeout=timedelta(minutes=5), schedule=(CronEntry(cron="@daily"),)) == job()
    assert job(schedule=AtEntry(at=datetime(2027, 3, 1, tzinfo=UTC))) == job(schedule={"at": "2027-03-01T00:00Z"})
    assert job(schedule=[EveryEntry(every=timedelta(minutes=5))]) == job(schedule={"every": "5m"})
    assert HttpSpec(url="http://a", json={"a": 1}).json_body == {"a": 1}


def test_a_spec_does_not_change_after_checking() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        job().timeout = timedelta(1)


@pytest.mark.parametrize(
    "url",
    [
        "https://a", "http://a:1/", "https://user@a.b/c?d=e#f", "http://{steps.find.output}/x",
        "https://a:{port}/{job}",
        "http://[::1]:80/", "${secret:URL}", "${secret:BASE}/{job}", "https://a/{scheduled_at:%Y %m}/b", "HTTPS://A",
        "https://a/${secret:TOKEN}",
    ],
)  # fmt: skip
def test_an_absolute_url_may_hold_templates_and_secrets(url: str) -> None:
    assert HttpSpec(url=url).url == url


@pytest.mark.parametrize(
    "url",
    [
        "", "a", "/a", "//a/b", "ftp://a", "http:", "http://", "http:///a", "http://:80/", "https://a b/",
        "http://a/\n",
        "http://a:port/", "http://a:65536/", "http://a:0/",
        "http://[::1/", "{base}/x", "javascript://a", "http://a/x y",
    ],
)  # fmt: skip
def test_another_url_is_refused(url: str) -> None:
    assert "is not an absolute URL" in refusal(run={"http": {"url": url}})


@pytest.mark.parametrize("at", ["2027-03-01T09:00", "2027-03-01 09:00", "2027-03-01T09:00:30", "2028-02-29T23:59:59"])
def test_a_time_without_offset_is_local(at: str) -> None:
    (entry,) = job(schedule={"at": at}).schedule
    assert isinstance(entry, AtEntry)
    assert entry.at.tzinfo is None


@pytest.mark.parametrize(
    "at",
    ["2027-03-01", "20270301T0900", "2027-03-01T09", "2027-03-01T09:00:00.5", "2027-W09-1T09:00", "2027-02-29T09:00",
    "9:00",
     "2027-03-01T24:00", "2027-03-01T09:00+25:00", "2027-03-01T09:00\n", 1803891600, None,
     datetime(2027, 3, 1, microsecond=1, tzinfo=UTC)],
)  # fmt: skip
def test_what_is_no_time_to_the_second_is_refused(at: object) -> None:
    assert "is not a time" in refusal(schedule={"at": at})


@pytest.mark.parametrize("name", ["UTC", "Europe/Berlin", "America/Argentina/Buenos_Aires", "Etc/GMT+5", "EST5EDT"])
def test_a_zone_of_the_tz_database_is_fine(name: str) -> None:
    assert job(timezone=name).timezone == name


@pytest.mark.parametrize("name", ["localtime", "Factory", "posixrules", "posix/UTC", "right/UTC"])
def test_the_machines_own_zone_is_not(name: str) -> None:
    assert "differs from machine to machine" in refusal(timezone=name)


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("Berlin", "did you mean `Europe/Berlin`?"),
        ("europe/berlin", "did you mean `Europe/Berlin`?"),
        ("America/New York", "did you mean `America/New_York`?"),
        ("America/Buenos Aires ", "did you mean `America/Buenos_Aires`?"),
        ("", 'write a name of the tz database such as "Europe/Berlin" or "UTC"'),
        ("../../etc/passwd", 'write a name of the tz database such as "Europe/Berlin" or "UTC"'),
        ("/etc/localtime", 'write a name of the tz database such as "Europe/Berlin" or "UTC"'),
        ("UTC\0", "did you mean `UTC`?"),
        ("Europe", None),
        ("x" * 10_000, 'write a name of the tz database such as "Europe/Berlin" or "UTC"'),
    ],
)
def test_a_zone_that_does_not_exist_is_refused_with_the_one_meant(name: str, advice: str | None) -> None:
    message = refusal(timezone=name)

    assert "is not a time zone; " in message
    assert advice is None or message.endswith(advice)


@pytest.mark.parametrize(
    "changes",
    [
        {"paused": "true"}, {"paused": 1}, {"retry": {"max_attempts": "3"}}, {"retry": {"max_attempts": 3.0}},
        {"retry": {"max_attempts": True}}, {"description": 5}, {"labels": {"a": 1}}, {"run": {"command": ["a", 1]}},
        {"run": {"command": "a"}}, {"run": {"http": {"url": "http://a", "expect_status": "200"}}},
        {"run": {"http": {"url": "http://a", "expect_status": True}}}, {"timezone": None}, {"overlap": "SKIP"},
    ],
)  # fmt: skip
def test_no_type_is_guessed(changes: dict[str, Any]) -> None:
    assert refusal(**changes)


@pytest.mark.parametrize("changes", [{"deadline": None}, {"paused": None}])
def test_null_takes_back_what_defaults_give(changes: dict[str, None]) -> None:
    assert job(**changes) == job()


def test_a_deadline_as_long_as_one_attempt_is_fine() -> None:
    assert job(deadline="5m").deadline == timedelta(minutes=5)


def test_a_wait_as_long_as_the_longest_is_fine() -> None:
    assert job(retry={"initial": "5m"}).retry.initial == timedelta(minutes=5)


def test_a_program_gets_no_nul_character() -> None:
    assert "NUL" in refusal(run={"command": ["a", "b\0"]})


@pytest.mark.parametrize("label", ["two\nlines", "x" * 201, "tab\t"])
def test_a_label_is_one_short_line(label: str) -> None:
    assert "is not a label" in refusal(labels={"a": label})
