"""What the jobs of the soak run: they say in a log when they begin and end, and book in PostgreSQL once for each key."""

from __future__ import annotations

import asyncio
import os
import time
from typing import Any

import psycopg
from pydantic import BaseModel

from activities import JobContext, handler
from activities.idempotency import once

GRAIN = 15
"""Seconds; which run is a long one is decided by its number of these."""


class Lasting(BaseModel):
    """Seconds that a run lasts, and each `nth` one."""

    lasts: float
    long: float
    nth: int


class Booking(BaseModel):
    """The database, and how long a booking takes in seconds."""

    database: str
    takes: float


def log(key: str, what: str) -> None:
    """One write, so that lines of several processes do not mix."""
    file = os.open(os.environ["SOAK_WORK"], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        os.write(file, f"{key} {time.time():.3f} {what}\n".encode())
    finally:
        os.close(file)


@handler("note")
async def note(params: Lasting, context: JobContext) -> None:
    """Lasts, and hears a cancellation at once."""
    log(context.idempotency_key, "begin")
    number = int(context.scheduled_at.timestamp()) // GRAIN
    try:
        await asyncio.sleep(params.lasts if number % params.nth else params.long)
    except asyncio.CancelledError:
        log(context.idempotency_key, "cancelled")
        raise
    log(context.idempotency_key, "end")


@handler("book")
def book(params: Booking, context: JobContext) -> Any:
    """Writes a row, slowly; nothing but `once` keeps a second one away."""
    log(context.idempotency_key, "begin")

    def write(connection: Any) -> dict[str, str]:
        connection.execute("INSERT INTO booked VALUES (%s)", (context.idempotency_key,))
        time.sleep(params.takes)
        return {"booked": context.idempotency_key}

    with psycopg.connect(params.database) as connection:
        booked = once(connection, context, write)
    log(context.idempotency_key, "end")
    return booked
