"""What a schedule's record answers about instants at the edges of what it knows."""

from __future__ import annotations

from datetime import datetime, timedelta

from activities.account.record import Event, SchedulerRecord
from tests.unit.schedules.ledger.ledgers import MINUTE, NOON

HOUR = timedelta(hours=1)


def pause(at: datetime) -> Event:
    return Event(at, "paused", paused=True)


def resumption(at: datetime) -> Event:
    return Event(at, "unpaused", paused=False)


def test_a_span_is_known_where_all_of_it_is() -> None:
    record = SchedulerRecord(((NOON, NOON + HOUR),))
    assert record.knows(NOON + HOUR)
    assert record.knows(NOON, NOON + HOUR)
    assert not record.knows(NOON, NOON + HOUR + MINUTE)
    assert not record.knows(NOON - MINUTE, NOON)


def test_a_resumption_at_the_instant_of_a_pause_does_not_end_it() -> None:
    later = resumption(NOON + HOUR)
    record = SchedulerRecord(events=(resumption(NOON), pause(NOON), later))
    assert record.pause_at(NOON) == pause(NOON)
    assert record.pause_end(NOON) == later


def test_a_backfill_that_was_sent_long_before_a_time_has_not_started_its_run() -> None:
    span = (NOON - HOUR, NOON + HOUR)
    early, late = (
        SchedulerRecord(events=(Event(NOON + after, "backfilled", span=span),)) for after in (-MINUTE, MINUTE)
    )
    assert not early.may_be_asked_for(NOON)
    assert late.may_be_asked_for(NOON)
