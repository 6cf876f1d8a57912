"""What the jobs of the chaos test run: a booking in PostgreSQL, once for each key."""

from __future__ import annotations

import time
from typing import Any

import psycopg
from pydantic import BaseModel

from activities import JobContext, handler
from activities.idempotency import once


class Booking(BaseModel):
    """The database, and how long a booking takes in seconds."""

    database: str
    takes: float


@handler("book")
def book(params: Booking, context: JobContext) -> Any:
    """Writes a row, slowly; nothing but `once` keeps a second one away."""

    def write(connection: Any) -> dict[str, str]:
        connection.execute("INSERT INTO booked VALUES (%s)", (context.idempotency_key,))
        time.sleep(params.takes)
        return {"booked": context.idempotency_key}

    with psycopg.connect(params.database) as connection:
        return once(connection, context, write)
