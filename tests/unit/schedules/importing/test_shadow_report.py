"""The old side's starts, read from what each system leaves behind, and compared with the runs here."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schedules.importing.comparison import compare
from schedules.importing.evidence import old_starts

NOW = datetime(2027, 3, 2, 12, tzinfo=UTC)
AT = datetime(2027, 3, 1, 3, 0, 1, tzinfo=UTC)
JOURNAL = json.dumps(
    {"__REALTIME_TIMESTAMP": str(int(AT.timestamp() * 1e6)), "MESSAGE": "(root) CMD (/srv/backup.sh --all)"}
)
JOB = {
    "metadata": {
        "annotations": {"batch.kubernetes.io/cronjob-scheduled-timestamp": "2027-03-01T03:00:01Z"},
        "ownerReferences": [{"kind": "CronJob", "name": "backup"}],
    }
}
TEXTS = [
    ("Mar  1 04:00:01 host CRON[4711]: (root) CMD (/srv/backup.sh --all)", "/srv/backup.sh --all"),
    ("2027-03-01T04:00:01.25+01:00 host CRON[4711]: (root) CMD (/srv/backup.sh --all)", "/srv/backup.sh --all"),
    (JOURNAL, "/srv/backup.sh --all"),
    (json.dumps({"items": [JOB, {"metadata": {}}]}), "backup"),
    ("[2027-03-01 04:00:01,123: INFO/MainProcess] Scheduler: Sending due task nightly (shop.nightly)", "nightly"),
    ("2027-03-01T03:00:01Z backup", "backup"),
    ("2027-03-01 04:00:01 backup", "backup"),
]


@pytest.mark.parametrize(("text", "key"), TEXTS)
def test_each_system_tells_when_it_started_what(text: str, key: str) -> None:
    [start] = old_starts(text if text.startswith('{"items"') else f"{text}\nsomething else\n", "Europe/Berlin", NOW)

    assert (start.at.replace(microsecond=0), start.key) == (AT, key)


@pytest.mark.parametrize(
    ("text", "unreadable"),
    [
        ("2026-13-45T99:00:00Z a", ["line 1"]),
        ("9999-12-31T23:59:59-12:00 a\n0001-01-01T00:00:00+12:00 a", ["line 1", "line 2"]),
        ('{"__REALTIME_TIMESTAMP": "99999999999999999999999", "MESSAGE": "(root) CMD (x)"}', ["line 1"]),
        ('{"__REALTIME_TIMESTAMP": "1", "MESSAGE": 5}\n{"MESSAGE": "(root) CMD (x)"}\n' + "[" * 5_000, []),
        ("Feb 30 00:00:00 h CRON[1]: (root) CMD (x)", ["line 1"]),
        ('{"items": 5}', []),
        ('{"items": ["a", {"metadata": {"ownerReferences": 5}}, {"metadata": {"ownerReferences": [7]}}]}', []),
        (
            json.dumps(
                {"items": [JOB | {"metadata": JOB["metadata"] | {"annotations": {}}, "status": {"startTime": 7}}]}
            ),
            ["item 1"],
        ),
    ],
)
def test_evidence_that_cannot_be_read_spoils_nothing_else(text: str, unreadable: list[str]) -> None:
    found: list[str] = []
    assert list(old_starts(text, "UTC", NOW, found)) == []
    assert found == unreadable
    if not text.startswith('{"items"'):
        assert len(list(old_starts(f"{text}\n2027-03-01T03:00:01Z backup", "UTC", NOW))) == 1


def test_a_line_without_a_year_is_of_the_last_such_day() -> None:
    [start] = old_starts("Dec 31 23:59:01 host CRON[1]: (root) CMD (x)", "UTC", NOW)

    assert start.at == datetime(2026, 12, 31, 23, 59, 1, tzinfo=UTC)


HOURS = [datetime(2027, 3, 1, hour, tzinfo=UTC) for hour in range(20)]


@given(st.sets(st.sampled_from(HOURS[1:-1])), st.sets(st.sampled_from(HOURS[1:-1])), st.integers(0, 100))
def test_what_one_side_lacks_is_told_and_nothing_else(no_old: set[datetime], no_new: set[datetime], late: int) -> None:
    old = [at + timedelta(seconds=late) for at in HOURS if at not in no_old]
    new = [at for at in HOURS if at not in no_new]
    found = compare("job", "UTC", new, old, old[0], old[-1])

    assert {at for at, _ in found.matched} == set(HOURS) - no_old - no_new
    assert set(found.only_new) == no_old - no_new
    assert set(found.only_old) == {at + timedelta(seconds=late) for at in no_new - no_old}
    assert found.equal == (no_old == no_new)


def test_a_change_of_clocks_in_between_is_told() -> None:
    times = [datetime(2027, 3, day, 1, tzinfo=UTC) for day in (26, 27, 28, 29)]

    assert "a change of clocks" in compare("job", "Europe/Berlin", times, times, times[0], times[-1]).verdict
    assert "a change of clocks" not in compare("job", "UTC", times, times, times[0], times[-1]).verdict
