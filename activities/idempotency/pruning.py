"""The job that forgets old keys: name this module in TICKWRIGHT_MODULES, and the handler `prune-effects` in a spec."""

from __future__ import annotations

import sqlite3
from datetime import UTC, timedelta
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, Field

from activities.context import JobContext
from activities.idempotency.database import connected
from activities.registry import handler

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

_DELETE = (
    "DELETE FROM tickwright_effects WHERE key IN"
    " (SELECT key FROM tickwright_effects WHERE claimed_at < ? ORDER BY claimed_at LIMIT ?)"
)


class PruneEffects(BaseModel):
    """Which keys to forget, and how many in one transaction.

    A key must outlive everything that could still ask for it: retries, what is made up for after an outage (a year, by
    default), backfills and resets by hand.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    database: str
    keep_days: int = Field(default=400, ge=1)
    batch: int = Field(default=1000, ge=1, le=100_000)


@handler("prune-effects")
def prune_effects(params: PruneEffects, context: JobContext) -> dict[str, int]:
    """Deletes keys that were last claimed more than `keep_days` before the scheduled time; says how many."""
    deleted = 0
    with connected(params.database) as connection:
        for count in prune(connection, context.scheduled_at - timedelta(days=params.keep_days), params.batch):
            deleted += count
            context.heartbeat({"deleted": deleted})
            if context.cancelled.is_set():
                break
    context.logger.info("old keys deleted", action="effects_pruned", keys=deleted)
    return {"deleted": deleted}


def prune(connection: Any, before: datetime, batch: int) -> Iterator[int]:
    """Delete keys last claimed before then, oldest first, and commit each batch; gives the size of each.

    For connections of psycopg (sync) and sqlite3.
    """
    is_sqlite = isinstance(connection, sqlite3.Connection)
    limit: Any = before.astimezone(UTC).isoformat(timespec="microseconds") if is_sqlite else before
    statement = _DELETE if is_sqlite else _DELETE.replace("?", "%s")
    count = batch
    while count == batch:
        count = connection.execute(statement, (limit, batch)).rowcount
        connection.commit()
        yield count
