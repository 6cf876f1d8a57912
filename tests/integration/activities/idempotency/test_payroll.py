"""The payment run on both databases: its effect is there once, whatever the attempts do."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from activities import JobContext
from activities.idempotency.database import connected
from examples.payments import payroll
from examples.payments.payroll import Payroll, pay_salaries
from schedules.lint.load import load_checked
from schedules.source.user_modules import find_handlers, import_modules
from tests.effects import Psycopg, Sqlite
from tests.processes import ROOT

FOLDER = ROOT / "examples" / "payments"
MARCH = datetime(2027, 3, 31, 4, tzinfo=UTC)


@pytest.fixture(params=[Psycopg, Sqlite], ids=["postgresql", "sqlite"])
def database(request: pytest.FixtureRequest, new_database: Callable[..., str]) -> str:
    """A database with the tables of the example and of the keys."""
    url = new_database(request.param)
    with connected(url) as connection:
        for statement in (FOLDER / "schema.sql").read_text().split(";"):
            connection.execute(statement)
        connection.commit()
    return url


def attempt(number: int, scheduled_at: datetime = MARCH) -> JobContext:
    key = f"payroll/default/pay-salaries/{scheduled_at:%Y-%m-%dT%H:%M:%SZ}/run"
    return JobContext("pay-salaries", "run", "run-1", number, scheduled_at, key)


def rows(database: str, query: str) -> list[Any]:
    with connected(database) as connection:
        return [tuple(row) for row in connection.execute(query).fetchall()]


def test_the_salaries_of_a_month_are_paid_once(database: str) -> None:
    paid = {"payments": 3}

    assert pay_salaries(Payroll(database=database), attempt(1)) == paid
    assert pay_salaries(Payroll(database=database), attempt(2)) == paid

    assert rows(database, "SELECT balance FROM accounts") == [(8_070_000,)]
    assert rows(database, "SELECT count(*), min(value_date) FROM payments") == [(3, "2027-03-31")]


def test_another_month_is_another_effect(database: str) -> None:
    pay_salaries(Payroll(database=database), attempt(1))
    pay_salaries(Payroll(database=database), attempt(1, datetime(2027, 4, 30, 4, tzinfo=UTC)))

    assert rows(database, "SELECT balance FROM accounts") == [(6_140_000,)]


def test_an_attempt_that_breaks_in_the_middle_has_paid_nobody(database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def pay_and_break(connection: Any, day: str) -> None:
        real(connection, day)
        raise ConnectionError("the network")

    real = payroll.pay
    monkeypatch.setattr(payroll, "pay", pay_and_break)
    with pytest.raises(ConnectionError):
        pay_salaries(Payroll(database=database), attempt(1))
    monkeypatch.undo()

    assert rows(database, "SELECT count(*) FROM payments") == [(0,)]
    pay_salaries(Payroll(database=database), attempt(2))
    assert rows(database, "SELECT count(*) FROM payments") == [(3,)]


def test_the_spec_is_right() -> None:
    handlers = find_handlers(import_modules(["examples.payments.payroll", "activities.idempotency.pruning"]))

    assert [job.name for job in load_checked([str(FOLDER)], None, handlers).jobs] == ["pay-salaries", "forget-old-keys"]
