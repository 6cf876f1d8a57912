"""A payment run: each month the salaries are paid once, whatever breaks in between."""

from __future__ import annotations

import sqlite3
from typing import Any

from pydantic import BaseModel

from activities.idempotency.database import connected
from tickwright import JobContext, handler, once


class Payroll(BaseModel):
    """The database with the accounts: postgresql://… or sqlite:///FILE."""

    database: str


@handler("pay-salaries")
def pay_salaries(params: Payroll, context: JobContext) -> Any:
    """Pays in the first attempt that gets through; every other one gives that attempt's result."""
    day = f"{context.scheduled_at:%Y-%m-%d}"
    with connected(params.database) as connection:
        return once(connection, context, lambda database: pay(database, day))


def pay(database: Any, day: str) -> dict[str, int]:
    """The effect: twice would pay twice. No commit in here: `once` commits this and its key together."""
    mark = "?" if isinstance(database, sqlite3.Connection) else "%s"
    paid = database.execute("INSERT INTO payments SELECT employee, amount, ? FROM salaries".replace("?", mark), (day,))
    database.execute(
        "UPDATE accounts SET balance = balance - (SELECT sum(amount) FROM salaries) WHERE name = 'payroll'"
    )
    return {"payments": paid.rowcount}
