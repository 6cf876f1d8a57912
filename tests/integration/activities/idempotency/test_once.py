"""One attempt after another: what `once` does, by each driver."""

from __future__ import annotations

import sqlite3
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from activities import HandlerError
from activities.idempotency import EffectsTableError, SupersededAttemptError, once
from tests.effects import KEY, POSTGRESQL, SQLITE, Driver, Psycopg, PsycopgAsync, Sqlite, attempt, with_payments

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


class DeclinedError(Exception):
    pass


def decline() -> None:
    raise DeclinedError


async def test_the_first_time_the_effect_happens_and_gives_its_result(driver: Driver) -> None:
    assert await driver.pay(attempt(1), lambda: {"payments": 12, "on": date(2027, 3, 1)}) == {
        "payments": 12,
        "on": "2027-03-01",
    }
    assert driver.payments == 1


async def test_a_repeat_gives_the_stored_result_and_does_nothing(driver: Driver) -> None:
    first = await driver.pay(attempt(1), lambda: {"payments": 12, "note": "Zürich \x00 ☃"})

    assert await driver.pay(attempt(2), decline) == first
    assert await driver.pay(attempt(1), decline) == first
    assert driver.payments == 1


async def test_a_connection_serves_one_effect_after_another(driver: Driver) -> None:
    async with driver.connection() as connection:
        results = [await driver.once(connection, KEY, lambda: "x", part=part) for part in ("a", "b", "a")]

    assert results == ["x", "x", "x"]
    assert driver.payments == 2


async def test_an_exception_of_the_effect_takes_back_all_and_the_next_attempt_does_it(driver: Driver) -> None:
    async with driver.connection() as connection:
        with pytest.raises(DeclinedError):
            await driver.once(connection, attempt(1), decline)
        assert driver.payments == 0
        assert await driver.once(connection, attempt(2), lambda: None) is None
    assert driver.payments == 1


async def test_a_statement_that_the_database_refuses_is_raised_as_it_is(driver: Driver) -> None:
    refused = psycopg.Error, sqlite3.Error, Exception
    with pytest.raises(refused) as raised:
        await driver.pay(attempt(1), sql="INSERT INTO nowhere VALUES (1)")

    assert not isinstance(raised.value, HandlerError)
    assert await driver.pay(attempt(2)) == {"payments": 1}


async def test_an_attempt_after_which_another_has_begun_must_not_commit(driver: Driver) -> None:
    with pytest.raises(DeclinedError):
        await driver.pay(attempt(2), decline)

    with pytest.raises(SupersededAttemptError, match=r"attempt 1 at .* did not commit: attempt 2 has begun") as refused:
        await driver.pay(attempt(1))

    assert not refused.value.permanent
    assert driver.payments == 0
    assert await driver.pay(attempt(3)) == {"payments": 1}


async def test_a_reset_run_counts_its_attempts_anew_and_supersedes_the_run_before_it(driver: Driver) -> None:
    with pytest.raises(DeclinedError):
        await driver.pay(attempt(3, run="before"), decline)
    with pytest.raises(DeclinedError):
        await driver.pay(attempt(1, run="reset", begun_after=3600), decline)
    with pytest.raises(SupersededAttemptError):
        await driver.pay(attempt(4, run="before"))

    assert await driver.pay(attempt(2, run="reset", begun_after=3700)) == {"payments": 1}
    assert driver.payments == 1


async def test_within_a_run_the_number_decides_whatever_the_clocks_say(driver: Driver) -> None:
    with pytest.raises(DeclinedError):
        await driver.pay(attempt(1, begun_after=100), decline)

    assert await driver.pay(attempt(2, begun_after=50)) == {"payments": 1}


async def test_an_attempt_made_again_after_a_drain_has_the_same_number_and_is_the_later_one(driver: Driver) -> None:
    with pytest.raises(DeclinedError):
        await driver.pay(attempt(1, begun_after=100), decline)
    with pytest.raises(SupersededAttemptError):
        await driver.pay(attempt(1, begun_after=50))

    assert await driver.pay(attempt(1, begun_after=150)) == {"payments": 1}


async def test_a_connection_in_a_transaction_is_refused_and_stays_usable(driver: Driver) -> None:
    async with driver.connection() as connection:
        if "asyncpg" in type(connection).__module__:
            await connection.execute("BEGIN")
        elif not driver.postgresql or "Async" in type(connection).__name__ or connection.autocommit:
            begun = connection.execute("BEGIN")
            if hasattr(begun, "__await__"):
                await begun
        else:
            connection.execute("SELECT 1")

        with pytest.raises(HandlerError, match="in a transaction already") as refused:
            await driver.once(connection, attempt(1), lambda: None)

        assert refused.value.permanent
    assert driver.payments == 0


@pytest.mark.parametrize("kind", [*POSTGRESQL, *SQLITE], ids=lambda kind: kind.__name__)
async def test_a_missing_table_is_told_with_the_command_that_makes_it(
    kind: type[Driver], new_database: Callable[..., str]
) -> None:
    driver = with_payments(kind, new_database(kind, migrated=False))

    with pytest.raises(EffectsTableError, match=r"python -m activities\.idempotency migrate --database") as told:
        await driver.pay(attempt(1))

    assert told.value.permanent
    assert driver.payments == 0


async def test_a_key_of_200_characters_and_a_long_part_fit(driver: Driver) -> None:
    assert await driver.pay(attempt(1, key="k" * 200), part="p" * 54) == {"payments": 1}
    assert await driver.pay(attempt(2, key="k" * 200), decline, part="p" * 54) == {"payments": 1}

    assert driver.rows("SELECT length(key) FROM tickwright_effects") == [(255,)]


@pytest.mark.parametrize(("key", "part"), [("k" * 256, ""), ("k" * 200, "p" * 55), ("", "")])
def test_a_key_that_would_not_fit_is_refused(key: str, part: str) -> None:
    with pytest.raises(HandlerError, match="write 1 to 255"):
        once(None, key, lambda _: None, part=part)


async def test_an_effect_that_ends_its_transaction_is_refused(driver: Driver) -> None:
    """psycopg itself forbids `commit()`; here it is SQL."""
    with pytest.raises(HandlerError, match="leave commit to once"):
        await driver.pay(attempt(1), sql="COMMIT")


@pytest.mark.parametrize(("result", "message"), [(object(), "not JSON"), ("x" * 65536, "65538 characters of JSON")])
async def test_a_result_that_cannot_be_kept_takes_back_the_effect(driver: Driver, result: Any, message: str) -> None:
    with pytest.raises(HandlerError, match=message) as refused:
        await driver.pay(attempt(1), lambda: result)

    assert refused.value.permanent
    assert driver.payments == 0


async def test_the_largest_result_is_kept(driver: Driver) -> None:
    assert await driver.pay(attempt(1), lambda: "x" * 65534) == await driver.pay(attempt(2), decline) == "x" * 65534


def ledger(connection: sqlite3.Connection) -> str:
    connection.execute("INSERT INTO payments VALUES (1)")
    return "ledger"


def mail(connection: sqlite3.Connection) -> str:
    connection.execute("INSERT INTO payments VALUES (2)")
    return "mail"


def test_two_effects_of_an_attempt_need_parts(new_database: Callable[..., str]) -> None:
    """Else the second would be taken for a repeat of the first, and not happen."""
    driver = with_payments(Sqlite, new_database(Sqlite))
    connection = sqlite3.connect(driver.url.removeprefix("sqlite:///"))

    assert once(connection, attempt(1), ledger) == once(connection, attempt(1), ledger) == "ledger"
    with pytest.raises(HandlerError, match=r"ledger` and `.*mail` have the same key.*part=") as refused:
        once(connection, attempt(1), mail)
    assert refused.value.permanent
    assert once(connection, attempt(1), mail, part="mail") == "mail"
    connection.close()
    assert driver.rows() == [(1,), (2,)]


async def test_an_async_effect_needs_an_async_connection_and_the_other_way_round(
    new_database: Callable[..., str],
) -> None:
    async def later(_: object) -> None:
        pass

    url = new_database(Psycopg)
    async with PsycopgAsync(url).connection() as connection:
        with pytest.raises(HandlerError, match="the effect must be async too"):
            await once(connection, attempt(1), lambda _: 1)
    async with Psycopg(url).connection() as sync_connection:
        with pytest.raises(HandlerError, match="the effect is async, but the connection is not"):
            await once(sync_connection, attempt(2), later)


def test_a_connection_of_another_kind_is_refused_with_those_that_are_known(tmp_path: Path) -> None:
    with pytest.raises(
        TypeError, match=r"type pathlib\.PosixPath; it knows psycopg\.Connection, sqlite3\.Connection, "
    ):
        once(tmp_path, attempt(1), lambda _: None)


def test_a_connection_with_rows_of_another_kind_will_do(new_database: Callable[..., str]) -> None:
    from psycopg.rows import dict_row

    with psycopg.connect(new_database(Psycopg), row_factory=dict_row) as connection:
        assert once(connection, attempt(1), lambda _: 1) == once(connection, attempt(2), lambda _: 2) == 1


@pytest.mark.parametrize("kind", SQLITE, ids=lambda kind: kind.__name__)
async def test_a_sqlite_connection_with_rows_and_texts_of_another_kind_will_do(
    kind: type[Driver], new_database: Callable[..., str]
) -> None:
    driver = with_payments(kind, new_database(kind))
    async with driver.connection() as connection:
        connection.row_factory = lambda cursor, row: dict(
            zip([field[0] for field in cursor.description], row, strict=True)
        )
        connection.text_factory = bytes
        assert await driver.once(connection, attempt(1), lambda: "x") == "x"
        assert await driver.once(connection, attempt(2), decline) == "x"


async def test_the_table_tells_a_person_what_happened(driver: Driver) -> None:
    await driver.pay(attempt(2, run="run-7"))

    [row] = driver.rows("SELECT key, run, attempt, claim, result, begun_at, effect FROM tickwright_effects")

    assert row[:5] == (KEY, "run-7", 2, 1, '{"payments": 1}')
    begun = row[5] if isinstance(row[5], datetime) else datetime.fromisoformat(row[5])
    assert begun.replace(tzinfo=begun.tzinfo or UTC) == datetime(2027, 3, 1, 13, 2, tzinfo=UTC)
    assert str(row[6]).endswith("once.<locals>.effect")
    assert driver.rows("SELECT claimed_at <= done_at FROM tickwright_effects") == [(True,)]
