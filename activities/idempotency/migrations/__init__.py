"""The table of the keys, as numbered SQL files that may be applied any number of times."""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from sqlite3 import Connection

Database = Literal["postgresql", "sqlite"]


def migration(database: Database) -> str:
    """The SQL that makes the table, or brings it to this version; it changes nothing where there is nothing to do."""
    folder = files(__package__ or __name__) / database
    return "\n".join(one.read_text() for one in sorted(folder.iterdir(), key=lambda file: file.name))


def migrate(connection: Connection | Any) -> None:
    """Apply it over a connection of psycopg (sync) or sqlite3, and commit."""
    if hasattr(connection, "executescript"):
        connection.executescript(migration("sqlite"))
    else:
        connection.execute(migration("postgresql"))
    connection.commit()
