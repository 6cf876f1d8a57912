"""The notes of schedules, written and read again."""

from __future__ import annotations

import pytest

from activities.note import RESUMED, paused_at
from schedules.notes import may_overwrite, pause_note, resume_note, sync_note, synced_at
from tests.factories import utc

AT = utc("2027-03-01T09:00")
UNTIL = utc("2027-03-01T12:00")


@pytest.mark.parametrize("commit", ["", "1a2b3c4-dirty"])
@pytest.mark.parametrize("who", ["ann@host", "by at@host"])
def test_the_note_of_a_sync_tells_what_it_did_and_when(who: str, commit: str) -> None:
    assert synced_at(sync_note("updated", who, AT, commit)) == ("updated", AT)


@pytest.mark.parametrize("note", ["", "ask Ann", RESUMED, pause_note("ann@host", AT, "", UNTIL)])
def test_another_note_is_not_that_of_a_sync(note: str) -> None:
    assert synced_at(note) is None


def test_only_the_note_of_a_pause_tells_since_when_it_is() -> None:
    assert paused_at(pause_note("ann@host", AT, "the disk is full", UNTIL)) == AT
    assert paused_at(resume_note("ann@host", AT, "")) is None


def test_a_sync_may_replace_what_a_success_after_failures_left() -> None:
    assert may_overwrite(RESUMED)
