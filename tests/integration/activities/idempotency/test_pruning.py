"""Old keys are deleted in batches, by the job that is shipped, and no newer one."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from threading import Event
from typing import TYPE_CHECKING, Any

import pytest

from activities import HandlerError, JobContext
from activities.idempotency import pruning
from activities.idempotency.database import connected
from activities.idempotency.pruning import PruneEffects, prune, prune_effects
from activities.registry import HandlerRegistry
from tests.effects import Driver, Psycopg, Sqlite, with_payments

if TYPE_CHECKING:
    from collections.abc import Callable

SUNDAY = datetime(2027, 3, 7, 2, 30, tzinfo=UTC)


@pytest.fixture(params=[Psycopg, Sqlite], ids=lambda kind: kind.__name__)
def database(request: pytest.FixtureRequest, new_database: Callable[..., str]) -> Driver:
    """Keys k0, k1, … k9, last claimed so many days before SUNDAY; the even ones are done."""
    driver = with_payments(request.param, new_database(request.param))
    with connected(driver.url) as connection:
        for age in range(10):
            at = SUNDAY - timedelta(days=age)
            when: Any = at if driver.postgresql else at.isoformat(timespec="microseconds")
            mark = "%s" if driver.postgresql else "?"
            connection.execute(
                "INSERT INTO tickwright_effects (key, run, attempt, begun_at, effect, claim, claimed_at, done_at)"
                f" VALUES ({', '.join([mark] * 8)})",
                (f"k{age}", "r", 1, when, "e", 1, when, when if age % 2 == 0 else None),
            )
        connection.commit()
    return driver


def context(**more: Any) -> JobContext:
    return JobContext("forget-old-keys", "run", "run-1", 1, SUNDAY, "key", **more)


def left(driver: Driver) -> list[str]:
    return [key for (key,) in driver.rows("SELECT key FROM tickwright_effects ORDER BY key")]


@pytest.mark.parametrize("batch", [1, 2, 3, 5, 1000])
def test_keys_older_than_the_days_to_keep_are_deleted(database: Driver, batch: int) -> None:
    told: list[Any] = []
    params = PruneEffects(database=database.url, keep_days=4, batch=batch)

    assert prune_effects(params, context(send_heartbeat=told.append)) == {"deleted": 5}

    assert left(database) == ["k0", "k1", "k2", "k3", "k4"]
    assert told[-1] == {"deleted": 5}
    assert len(told) == 5 // batch + 1


def test_each_batch_is_committed_oldest_first(database: Driver) -> None:
    with connected(database.url) as connection:
        batches = prune(connection, SUNDAY - timedelta(days=4), 2)
        assert next(batches) == 2
        assert left(database) == [f"k{age}" for age in range(8)]


def test_it_ends_between_two_batches_when_it_is_told_to(database: Driver) -> None:
    stopping = Event()
    stopping.set()
    params = PruneEffects(database=database.url, keep_days=1, batch=3)

    assert prune_effects(params, context(cancelled=stopping)) == {"deleted": 3}


def test_the_handler_is_found_in_its_module_and_keeps_more_than_a_year() -> None:
    registry = HandlerRegistry.from_modules([pruning])

    assert registry.names == ["prune-effects"]
    assert registry.check_params("prune-effects", {"database": "${secret:DATABASE}"}) == []
    assert PruneEffects(database="").keep_days > 366


def test_an_address_of_another_kind_is_refused_and_not_shown() -> None:
    with pytest.raises(HandlerError, match="neither postgresql:// nor sqlite:///") as refused:
        prune_effects(PruneEffects(database="mysql://u:secret@h/d"), context())

    assert "secret" not in refused.value.message
