"""The database of the keys by its address, for the commands and the job that look after it."""

from __future__ import annotations

import sqlite3
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any

from activities.databases import POSTGRESQL, SQLITE
from activities.errors import HandlerError

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def connected(url: str) -> Iterator[Any]:
    """A connection to `postgresql://…` (by psycopg) or `sqlite:///FILE`, closed with the block. Raises a permanent HandlerError."""
    if url.startswith(SQLITE):
        with closing(sqlite3.connect(url.removeprefix(SQLITE))) as connection:
            yield connection
    elif url.startswith(POSTGRESQL):
        with closing(_psycopg().connect(url)) as connection:
            yield connection
    else:
        raise HandlerError("the database's address begins with neither postgresql:// nor sqlite:///", permanent=True)


def _psycopg() -> Any:
    try:
        import psycopg
    except ImportError as error:
        message = f"psycopg is needed to reach PostgreSQL ({error}); install `psycopg[binary]`"
        raise HandlerError(message, permanent=True) from None
    return psycopg
