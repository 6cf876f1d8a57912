"""Two attempts at the same time: whichever hangs where, one of them commits, and a later one need not wait for an earlier one."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from threading import Event
from time import monotonic
from typing import TYPE_CHECKING, Any

import asyncpg
import psycopg
import pytest

from activities.idempotency import EffectBusyError, SupersededAttemptError, drivers, once, perform, postgresql
from activities.idempotency.database import connected
from tests.effects import Aiosqlite, Asyncpg, AsyncpgPool, Driver, Psycopg, PsycopgAsync, attempt, with_payments

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from tests.postgres import PostgresServer

LONG = 20.0
END_OTHERS = """
SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()
"""
ENDED_IN_COMMIT = (psycopg.OperationalError, asyncpg.PostgresError, asyncpg.InterfaceError)
"""A session that is ended while it commits raises the driver's own error: nobody knows then whether it has paid."""
SAME_ROW = "UPDATE payments SET amount = amount + 1"


class Zombie:
    """An attempt that stands still in its effect, after its write, until it is woken."""

    def __init__(self) -> None:
        self.written, self.woken = Event(), Event()

    def __call__(self) -> dict[str, str]:
        self.written.set()
        assert self.woken.wait(LONG)
        return {"by": "zombie"}

    @asynccontextmanager
    async def hanging(self, driver: Driver, number: int = 1, **options: Any) -> AsyncIterator[asyncio.Task[Any]]:
        """The attempt hangs when the block begins, and has ended with it at the latest."""
        task = asyncio.create_task(driver.pay(attempt(number), self, **options))
        try:
            assert await asyncio.to_thread(self.written.wait, LONG)
            yield task
        finally:
            self.woken.set()
            await asyncio.wait({task})


async def test_a_later_attempt_wins_and_the_zombie_cannot_commit(on_postgresql: Driver) -> None:
    zombie = Zombie()
    async with zombie.hanging(on_postgresql) as first:
        assert await on_postgresql.pay(attempt(2), lambda: {"by": "second"}) == {"by": "second"}
        zombie.woken.set()
        with pytest.raises(SupersededAttemptError, match=r"attempt 1 at .* did not commit"):
            await first

    assert on_postgresql.payments == 1
    assert await on_postgresql.pay(attempt(3)) == {"by": "second"}


async def test_a_later_attempt_wins_although_both_write_to_the_same_row(on_postgresql: Driver) -> None:
    await on_postgresql.pay("other key")
    zombie = Zombie()
    async with zombie.hanging(on_postgresql, sql=SAME_ROW) as first:
        began = monotonic()
        await on_postgresql.pay(attempt(2), sql=SAME_ROW)
        assert monotonic() - began < LONG / 2
        zombie.woken.set()
        with pytest.raises(SupersededAttemptError):
            await first

    assert on_postgresql.rows() == [(13,)]


async def test_a_zombie_that_comes_back_before_its_effect_does_not_disturb_the_later_one(driver: Driver) -> None:
    with pytest.raises(ZeroDivisionError):
        await driver.pay(attempt(1), lambda: 1 // 0)
    later = Zombie()
    refused = SupersededAttemptError if driver.postgresql else EffectBusyError
    async with later.hanging(driver, 2) as second:
        began = monotonic()
        with pytest.raises(refused):
            await driver.pay(attempt(1))
        assert monotonic() - began < LONG / 2
        later.woken.set()
        assert await second == {"by": "zombie"}

    assert driver.payments == 1


async def test_many_attempts_at_once_make_one_payment(driver: Driver) -> None:
    async def one(number: int) -> Any:
        try:
            return await driver.pay(attempt(number), lambda: {"by": number})
        except (SupersededAttemptError, EffectBusyError, *ENDED_IN_COMMIT) as error:
            return error

    answers = await asyncio.gather(*map(one, range(1, 9)))
    final = await driver.pay(attempt(9), lambda: {"by": 9})

    assert driver.payments == 1
    assert [answer for answer in answers if not isinstance(answer, Exception)] in (
        [],
        *([final] * n for n in range(1, 9)),
    )


async def test_calls_with_a_key_of_ones_own_make_one_payment_too(driver: Driver) -> None:
    """Without attempts the one that begins last wins."""
    zombie = Zombie()
    first = asyncio.create_task(driver.pay("webhook-1", zombie))
    await asyncio.to_thread(zombie.written.wait, LONG)
    if driver.postgresql:
        assert await driver.pay("webhook-1", lambda: "second") == "second"
    zombie.woken.set()
    await asyncio.wait({first})

    assert await driver.pay("webhook-1", lambda: "third") == ("second" if driver.postgresql else {"by": "zombie"})
    assert driver.payments == 1


async def test_on_sqlite_a_later_attempt_is_told_to_come_again_while_an_earlier_one_writes(on_sqlite: Driver) -> None:
    zombie = Zombie()
    async with zombie.hanging(on_sqlite) as first:
        with pytest.raises(EffectBusyError, match="another session writes to the database") as busy:
            await on_sqlite.pay(attempt(2))
        assert not busy.value.permanent
        assert busy.value.retry_after == 2.0
        zombie.woken.set()
        assert await first == {"by": "zombie"}

    assert await on_sqlite.pay(attempt(3)) == {"by": "zombie"}
    assert on_sqlite.payments == 1


@pytest.mark.parametrize("kind", [PsycopgAsync, Asyncpg, AsyncpgPool, Aiosqlite], ids=lambda kind: kind.__name__)
async def test_a_cancelled_attempt_is_rolled_back_and_its_connection_stays_usable(
    kind: type[Driver], new_database: Callable[..., str]
) -> None:
    driver = with_payments(kind, new_database(kind))
    zombie = Zombie()
    async with driver.connection() as connection:
        first = asyncio.create_task(driver.once(connection, attempt(1), zombie))
        await asyncio.to_thread(zombie.written.wait, LONG)
        first.cancel()
        with pytest.raises(asyncio.CancelledError):
            await first
        assert driver.payments == 0
        assert await driver.once(connection, attempt(2), lambda: "second") == "second"
        zombie.woken.set()

    assert driver.payments == 1


class StallingCommit:
    """The first so-and-so-many-th commit of a psycopg session waits until it is woken."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, nth: int) -> None:
        self.reached, self.woken = Event(), Event()
        self.left = nth
        real = drivers.PsycopgSession.commit

        def commit(session: drivers.PsycopgSession) -> None:
            self.left -= 1
            if self.left == 0:
                self.reached.set()
                assert self.woken.wait(LONG)
            real(session)

        monkeypatch.setattr(drivers.PsycopgSession, "commit", commit)


@pytest.fixture
def psycopg_driver(new_database: Callable[..., str]) -> Driver:
    return with_payments(Psycopg, new_database(Psycopg))


async def test_a_zombie_between_its_last_write_and_its_commit_cannot_commit(
    psycopg_driver: Driver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It holds the row of the key itself."""
    stall = StallingCommit(monkeypatch, nth=2)
    first = asyncio.create_task(psycopg_driver.pay(attempt(1), lambda: "first"))
    assert await asyncio.to_thread(stall.reached.wait, LONG)

    assert await psycopg_driver.pay(attempt(2), lambda: "second", patience=0.3) == "second"
    stall.woken.set()
    with pytest.raises(psycopg.errors.AdminShutdown):
        await first

    assert psycopg_driver.payments == 1


async def test_a_zombie_between_its_claim_and_the_claims_commit_is_ended_by_the_server(
    psycopg_driver: Driver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgresql, "_STALLED_CLAIM", 1.0)
    stall = StallingCommit(monkeypatch, nth=1)
    first = asyncio.create_task(psycopg_driver.pay(attempt(1), lambda: "first"))
    assert await asyncio.to_thread(stall.reached.wait, LONG)

    with pytest.raises(EffectBusyError):
        await psycopg_driver.pay(attempt(2), patience=0.05)
    assert await psycopg_driver.pay(attempt(3), lambda: "third", patience=3.0) == "third"
    stall.woken.set()
    with pytest.raises(psycopg.errors.IdleInTransactionSessionTimeout):
        await first

    assert psycopg_driver.payments == 1


async def test_a_session_that_ends_before_any_step_is_told_as_such(
    on_postgresql: Driver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By a later attempt, an operator or the server: nothing is paid. Of a commit alone the driver's own words are raised."""
    names = ("_carry_out", "_carry_out_async")
    sync, async_ = (getattr(perform, name) for name in names)
    before, steps = 0, list[object]()

    def note(step: object) -> None:
        steps.append(step)
        if len(steps) == before:
            with connected(on_postgresql.url) as connection:
                connection.execute(END_OTHERS)

    def carried_out(session: Any, step: Any, effect: Any) -> Any:
        note(step)
        return sync(session, step, effect)

    async def carried_out_async(session: Any, step: Any, effect: Any) -> Any:
        await asyncio.to_thread(note, step)
        return await async_(session, step, effect)

    monkeypatch.setattr(perform, names[0], carried_out)
    monkeypatch.setattr(perform, names[1], carried_out_async)
    await on_postgresql.pay("all")
    whole, told = len(steps), dict[int, tuple[object, str, str]]()
    for before in range(2, whole + 1):
        steps.clear()
        try:
            await on_postgresql.pay(f"key {before}")
        except Exception as error:  # noqa: BLE001  each kind is compared below
            told[before] = (steps[before - 1], type(error).__name__, str(error))
    assert on_postgresql.payments == 1
    assert len(told) == whole - 1
    assert all(message for _, _, message in told.values()), told
    others = {name for step, name, _ in told.values() if step != "commit"}
    assert others == {SupersededAttemptError.__name__}, told


async def test_an_earlier_session_of_another_role_cannot_be_ended_and_cannot_commit_either(
    postgres: PostgresServer, psycopg_driver: Driver
) -> None:
    foreign = Psycopg(psycopg_driver.url.replace("app@", "postgres@"))
    zombie = Zombie()
    async with zombie.hanging(foreign) as first:
        with pytest.raises(EffectBusyError, match="belongs to another role") as busy:
            await psycopg_driver.pay(attempt(2))
        assert not busy.value.permanent
        zombie.woken.set()
        with pytest.raises(SupersededAttemptError, match="a later attempt has begun"):
            await first

    assert psycopg_driver.payments == 0
    await psycopg_driver.pay(attempt(3))
    assert psycopg_driver.payments == 1


async def test_the_limits_of_a_claim_do_not_last(psycopg_driver: Driver) -> None:
    def limits(connection: Any) -> list[str]:
        names = ("lock_timeout", "idle_in_transaction_session_timeout")
        return [str(connection.execute(f"SHOW {name}".encode()).fetchone()[0]) for name in names]

    async with psycopg_driver.connection() as connection:
        inside: list[str] = []
        before = limits(connection)
        connection.commit()
        await psycopg_driver.once(connection, attempt(1), lambda: inside.extend(limits(connection)))
        assert inside == limits(connection) == before == ["0", "0"]


async def test_an_effect_of_another_key_is_not_ended(psycopg_driver: Driver) -> None:
    bystander, zombie = Zombie(), Zombie()
    other = asyncio.create_task(psycopg_driver.pay("other key", bystander))
    assert await asyncio.to_thread(bystander.written.wait, LONG)
    async with zombie.hanging(psycopg_driver):
        assert await psycopg_driver.pay(attempt(2), lambda: "second") == "second"
    bystander.woken.set()

    assert await other == {"by": "zombie"}
    assert psycopg_driver.payments == 2


async def test_a_session_that_has_gone_on_to_other_work_is_not_ended(psycopg_driver: Driver) -> None:
    """Only a session that is in the effect of this key holds its lock."""
    with connected(psycopg_driver.url) as other:
        with pytest.raises(ZeroDivisionError):
            once(other, attempt(1), lambda _: 1 // 0)
        other.execute("INSERT INTO payments VALUES (7)")
        await psycopg_driver.pay(attempt(2))
        other.commit()

    assert sorted(psycopg_driver.rows()) == [(7,), (12,)]
