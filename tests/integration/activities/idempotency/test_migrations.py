"""The table of the keys is made by a command, any number of times, and is in the wheel."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING
from zipfile import ZipFile

import pytest

from activities.idempotency import migrate, migration, once
from activities.idempotency.database import connected
from tests.effects import Psycopg, Sqlite
from tests.processes import ROOT, run_command

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.effects import Driver

COMMAND = "activities.idempotency"


@pytest.mark.parametrize("kind", [Psycopg, Sqlite], ids=lambda kind: kind.__name__)
async def test_the_command_makes_the_table_and_once_more_keeps_what_is_in_it(
    kind: type[Driver], new_database: Callable[..., str]
) -> None:
    url = new_database(kind, migrated=False)

    first = await run_command(COMMAND, "migrate", "--database", url)
    with connected(url) as connection:
        assert once(connection, "key", lambda _: 1) == 1
    second = await run_command(COMMAND, "migrate", env={"DATABASE_URL": url})

    assert [first, second] == [first] * 2
    assert (first.code, first.stdout, first.stderr) == (0, "", "tickwright_effects is there\n")
    with connected(url) as connection:
        assert once(connection, "key", lambda _: 2) == 1


async def test_the_printed_sql_makes_the_same_table() -> None:
    printed = await run_command(COMMAND, "sql", "sqlite")

    assert (printed.code, printed.stderr) == (0, "")
    by_sql, by_call = sqlite3.connect(":memory:"), sqlite3.connect(":memory:")
    by_sql.executescript(printed.stdout)
    migrate(by_call)
    schema = "SELECT name, sql FROM sqlite_master ORDER BY name"
    assert by_sql.execute(schema).fetchall() == by_call.execute(schema).fetchall()
    by_sql.close()
    by_call.close()


def test_both_databases_have_the_same_columns(new_database: Callable[..., str]) -> None:
    with connected(new_database(Psycopg)) as postgresql, connected(new_database(Sqlite)) as sqlite:
        named = "SELECT column_name FROM information_schema.columns WHERE table_name = 'tickwright_effects'"
        columns = {name for (name,) in postgresql.execute(named).fetchall()}
        assert columns == {row[1] for row in sqlite.execute("PRAGMA table_info(tickwright_effects)")}


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["migrate"], 2, "no database; give --database URL or set DATABASE_URL"),
        (["migrate", "--database", "oracle://x"], 2, "neither postgresql:// nor sqlite:///"),
        (["migrate", "--database", "postgresql://nobody@127.0.0.1:1/x"], 1, "the table was not made: OperationalError"),
        (["sql", "oracle"], 2, "invalid choice: 'oracle'"),
    ],
)
async def test_what_cannot_be_done_is_told_in_a_line(arguments: list[str], code: int, message: str) -> None:
    ended = await run_command(COMMAND, *arguments, env={"DATABASE_URL": ""})

    assert (ended.code, ended.stdout) == (code, "")
    assert message in ended.stderr
    assert "Traceback" not in ended.stderr


def test_the_wheel_has_the_migrations(tmp_path: Path) -> None:
    build = "import sys, hatchling.build as b; b.build_wheel(sys.argv[1])"
    subprocess.run([sys.executable, "-c", build, str(tmp_path)], cwd=ROOT, check=True, capture_output=True)

    [wheel] = tmp_path.glob("*.whl")
    with ZipFile(wheel) as packed:
        for database in ("postgresql", "sqlite"):
            name = f"activities/idempotency/migrations/{database}/0001_effects.sql"
            assert packed.read(name).decode() == migration(database)
