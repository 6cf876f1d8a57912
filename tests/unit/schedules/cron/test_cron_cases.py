"""The shared cases: schedules from real files and faults of other schedulers, each with its right answer."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from schedules.cron import DIALECTS, CronError, Occurrences, compile_cron
from schedules.model import Times

if TYPE_CHECKING:
    from schedules.cron import Gap, Repeat

CASES = Path(__file__).parents[3] / "cases"
POLICIES: dict[str, tuple[Gap, Repeat]] = {"literal": ("skip", "both"), "vixie": ("run_after", "first")}
FAR = datetime(2099, 1, 1, tzinfo=UTC)


def rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (CASES / name).read_text().splitlines()]


def occurrences(
    text: str, timezone: str, dialect: str, start: datetime, policy: tuple[Gap, Repeat] = ("run_after", "first")
) -> Occurrences:
    compiled = compile_cron(
        text,
        timezone=timezone,
        dialect=dialect,
        gap=policy[0],
        repeat=policy[1],
        horizon_start=start - timedelta(days=10),
        horizon_end=start + timedelta(days=3 * 366),
    )
    return Occurrences(Times(compiled.timezone, compiled.calendars, compiled.intervals, end_at=compiled.end_at))


def instants(texts: list[str]) -> list[datetime]:
    return [datetime.fromisoformat(text) for text in texts]


def dialect_of(row: dict[str, Any]) -> str:
    words = row["dialect"]
    for name in ("kubernetes", "celery", "spring", "quartz", "eventbridge", "systemd"):
        if name in words:
            return name
    return "spring" if "seconds" in words else "cron"


SCHEDULES = [row for row in rows("schedules.jsonl") if dialect_of(row) in DIALECTS]


@pytest.mark.parametrize("row", SCHEDULES, ids=lambda row: str(row["id"]))
def test_a_schedule_from_a_real_file_has_the_next_times_it_means(row: dict[str, Any]) -> None:
    start = datetime(2027, 3, 1, tzinfo=UTC)
    if row.get("rejected"):
        with pytest.raises(CronError):
            occurrences(expression_of(row), row["timezone"], dialect_of(row), start)
        return
    if row.get("not_calendar"):
        assert_no_calendar_times(expression_of(row), dialect_of(row), start)
        return
    found = occurrences(row["expr"], row["timezone"], dialect_of(row), start)
    after = start + timedelta(seconds=1)
    assert list(islice(found.between(after, FAR), 3)) == instants(row["next3_from_2027-03-01T00:00Z"])


def assert_no_calendar_times(text: str, dialect: str, start: datetime) -> None:
    if text.startswith("rate"):
        found = occurrences(text, "UTC", dialect, start)
        first = found.next_after(start)
        assert first is not None
        assert found.next_after(first) == first + timedelta(days=7)
    elif text == "@reboot":
        assert occurrences(text, "UTC", dialect, start).next_after(start) is None
    else:
        with pytest.raises(CronError):
            occurrences(text, "UTC", dialect, start)


def expression_of(row: dict[str, Any]) -> str:
    words = str(row["text"]).split()
    if "user column" not in row["dialect"]:
        return str(row["text"])
    return words[0] if words[0].startswith("@") else " ".join(words[:5])


def asked(row: dict[str, Any]) -> dict[str, Any]:
    question: dict[str, Any] = row["input"]
    return question


def dialect_asked(question: dict[str, Any]) -> str:
    if question.get("layout") == "year-last":
        return "temporal"
    if question.get("layout") == "sec-first":
        return "spring"
    if question.get("dow_rule") == "exact":
        return "kubernetes"
    return str(question.get("dialect", "cron"))


ASKED = [row for row in rows("bugs.jsonl") if "expr" in asked(row) and dialect_asked(asked(row)) in DIALECTS]


def by_operation(*operations: str) -> list[dict[str, Any]]:
    return [row for row in ASKED if asked(row)["op"] in operations]


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("row", by_operation("next", "prev"), ids=lambda row: str(row["id"]))
def test_a_fault_of_another_scheduler_is_not_ours(row: dict[str, Any], policy: str) -> None:
    question = asked(row)
    right = row["right"].get(policy, row["right"])
    start = datetime.fromisoformat(question["from"])
    found = occurrences(question["expr"], question["tz"], dialect_asked(question), start, POLICIES[policy])
    if question["op"] == "prev":
        answers, moment = [], start
        for _ in range(question["n"]):
            before = found.previous_before(moment)
            assert before is not None
            answers.append(moment := before)
    else:
        end = datetime.fromisoformat(question["until"]) + timedelta(seconds=1) if "until" in question else FAR
        answers = list(islice(found.between(start + timedelta(microseconds=1), end), question.get("n", 99)))
    assert answers == instants(right["utc"])


@pytest.mark.parametrize("row", by_operation("match"), ids=lambda row: str(row["id"]))
def test_a_time_matches_or_not(row: dict[str, Any]) -> None:
    question = asked(row)
    moment = datetime.fromisoformat(question["at"])
    found = occurrences(question["expr"], question["tz"], "cron", moment)
    assert (found.next_after(moment - timedelta(seconds=1)) == moment) == row["right"]["match"]


@pytest.mark.parametrize("row", by_operation("valid"), ids=lambda row: str(row["id"]))
def test_a_broken_expression_is_refused_at_once(row: dict[str, Any]) -> None:
    text = asked(row)["expr"].replace("... (20015 characters)", "0 " * 10_000)
    with pytest.raises(CronError):
        occurrences(text, "UTC", "cron", datetime(2027, 1, 1, tzinfo=UTC))


BY_ID = {str(row["id"]): row for name in ("bugs.jsonl", "schedules.jsonl") for row in rows(name)}

# OnCalendar of systemd is no dialect here: the same times written as cron text, read literally
IN_CRON = {
    "SCH-160": "8-59/10 * * * *",
    "SCH-168": "42 6 14,28 * *",
    "SCH-169": "0 0 1 * *",
    "SCH-170": "0 0 * * MON",
    "SCH-171": "0 0,12 * * *",
    "SCH-173": "0 23 L * *",
    "SCH-174": "CRON_TZ=Europe/Paris 30 2 * * MON-FRI",
    "BUG-121": "30 2-23/4 * * *",
    "BUG-122": "* * * * *",
    "BUG-124": "0 4 1-31/5 * *",
    "BUG-125": "0 16 * * SUN",
}


@pytest.mark.parametrize("case", IN_CRON)
def test_times_of_systemd_can_be_written_as_cron(case: str) -> None:
    row = BY_ID[case]
    question = row.get("input") or {"tz": row["timezone"], "from": "2027-03-01T00:00:00Z", "n": 3}
    expected = row["right"]["utc"] if "right" in row else row["next3_from_2027-03-01T00:00Z"]
    start = datetime.fromisoformat(question["from"])
    found = occurrences(IN_CRON[case], question["tz"], "cron", start, POLICIES["literal"])
    assert list(islice(found.between(start + timedelta(seconds=1), FAR), question["n"])) == instants(expected)


@pytest.mark.parametrize("policy", POLICIES)
def test_the_number_of_runs_on_a_day_of_change_is_the_policys(policy: str) -> None:
    for case, expected in BY_ID["BUG-059"]["right"][policy].items():
        text, day = f"{case.partition(' on ')[0]} * * *", case.partition(" on ")[2]
        start = datetime.fromisoformat(f"{day}T00:00-05:00")
        found = occurrences(text, "America/New_York", "cron", start, POLICIES[policy])
        assert found.count_between(start, start + timedelta(hours=22)) == expected


def test_what_a_pause_swallowed_can_be_told() -> None:
    question, right = asked(BY_ID["BUG-090"]), BY_ID["BUG-090"]["right"]
    paused, unpaused = (datetime.fromisoformat(question[each]) for each in ("paused", "unpaused"))
    found = occurrences(question["expr"], question["tz"], "cron", paused)
    assert list(found.between(paused, unpaused)) == instants(right["missed"])
    assert [found.next_after(unpaused)] == instants(right["no_catchup_next"])


def test_what_an_outage_swallowed_can_be_told_for_any_window() -> None:
    question, right = asked(BY_ID["BUG-166"]), BY_ID["BUG-166"]["right"]
    away, back = (datetime.fromisoformat(question[each]) for each in ("down_from", "down_to"))
    found = occurrences(question["expr"], "UTC", "cron", away)
    for window in question["windows_s"]:
        assert found.count_between(max(away, back - timedelta(seconds=window)), back) == right[str(window)]
