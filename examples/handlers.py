"""The `python` handler of the examples."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import timedelta
from pathlib import Path

from pydantic import BaseModel, Field

from tickwright import JobContext, handler


class OldRows(BaseModel):
    """Which rows to delete."""

    database: Path
    keep_days: int = Field(ge=1)


@handler("delete-old-rows")
def delete_old_rows(params: OldRows, context: JobContext) -> dict[str, int]:
    """Deletes by the scheduled time, not by the clock: a second attempt, or a late one, deletes the same rows."""
    before = context.scheduled_at - timedelta(days=params.keep_days)
    with closing(sqlite3.connect(params.database)) as connection, connection:
        deleted = connection.execute("DELETE FROM requests WHERE at < ?", (before.timestamp(),)).rowcount
    context.logger.info("old rows deleted", action="rows_deleted", rows=deleted)
    return {"deleted": deleted}
