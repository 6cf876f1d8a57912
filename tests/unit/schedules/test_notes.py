"""The notes of schedules, written and read again."""

from __future__ import annotations

import pytest

from activities.note import RESUMED, ended_pause, paused_at, paused_until, synced_at
from schedules.notes import (
    MakeUp,
    make_up_of,
    may_overwrite,
    pause_note,
    resume_note,
    resumed_note,
    sync_note,
)
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


@pytest.mark.parametrize("reason", ["", "done (paused since yesterday)", "at 2027-03-01T07:00:00Z (to make up)"])
@pytest.mark.parametrize("who", ["ann@host", "by at@host"])
def test_the_note_of_a_resume_tells_of_the_pause_that_it_ended(who: str, reason: str) -> None:
    wish = MakeUp(AT, UNTIL, "run_all --max 2")
    assert ended_pause(resume_note(who, UNTIL, reason, since=AT)) == (AT, UNTIL)
    assert ended_pause(resume_note(who, UNTIL, reason, wish)) == (AT, UNTIL)
    assert make_up_of(resume_note(who, UNTIL, reason, wish)) == wish
    assert ended_pause(resume_note(who, UNTIL, reason)) is None


def test_so_does_the_note_of_a_pause_that_ended_by_itself() -> None:
    assert ended_pause(resumed_note(UNTIL, AT)) == (AT, UNTIL)


@pytest.mark.parametrize("note", ["", "ask Ann", RESUMED, sync_note("updated", "ann@host", AT, "")])
def test_other_notes_tell_of_no_ended_pause(note: str) -> None:
    assert ended_pause(note) is None


def test_a_pause_that_goes_on_is_none_of_the_past() -> None:
    note = pause_note("ann@host", AT, "", UNTIL, AT)
    assert (ended_pause(note), paused_until(note)) == (None, UNTIL)


def test_a_sync_may_replace_what_a_success_after_failures_left() -> None:
    assert may_overwrite(RESUMED)
