"""What a `sql` step does and gives back, on real databases."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import pytest
from temporalio.exceptions import ApplicationError

from tests.integration.activities.handlers.sql.conftest import PAY
from tests.step_calls import bench, step_call

if TYPE_CHECKING:
    from pathlib import Path

    from tests.integration.activities.handlers.sql.conftest import Steps
    from tests.postgres import PostgresServer

TEN = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10) SELECT i FROM n"


async def test_a_query_gives_its_rows(steps: Steps) -> None:
    result = await steps.run("SELECT :one AS a, 2 AS b, 3 AS b", one="x")
    assert result.output == {"row_count": 1, "rows": [{"a": "x", "b": 2, "b_2": 3}]}


async def test_what_only_reads_needs_no_table_of_keys(steps: Steps) -> None:
    assert (await steps.run(TEN)).output["row_count"] == 10
    assert steps.rows(_TABLES[_kind(steps)]) == [("payments",)]


async def test_the_first_rows_are_kept_and_all_are_counted(steps: Steps) -> None:
    output = (await steps.run(TEN.replace("10", "2500"))).output
    assert (output["row_count"], len(output["rows"]), output["rows_left_out"]) == (2500, 100, 2400)
    assert output["rows"][99] == {"i": 100}


async def test_no_row_is_cut_to_fit(steps: Steps) -> None:
    long = "x" * 10_000
    output = (
        await steps.run("SELECT :a AS a UNION ALL SELECT :b UNION ALL SELECT :c", a=long, b="y" * 30_000, c="z")
    ).output
    assert output == {"row_count": 3, "rows": [{"a": long}], "rows_left_out": 2}


async def test_a_script_is_one_transaction(steps: Steps) -> None:
    result = await steps.run(f"{PAY};\n{PAY};\nSELECT sum(amount) AS total FROM payments;", amount=12)
    assert result.output == {"row_count": 1, "rows": [{"total": 24}], "row_counts": [1, 1, 1]}
    assert steps.rows() == [(12,), (12,)]


async def test_of_a_script_that_fails_nothing_stays_and_the_message_says_which_statement(steps: Steps) -> None:
    with pytest.raises(ApplicationError) as caught:
        await steps.run(f"{PAY};\nDELETE FROM nobody;", amount=12)
    assert caught.value.message.startswith("statement 2 of 2 (line 2: `DELETE FROM nobody`): ")
    assert "nobody" in caught.value.message.partition("`): ")[2]
    assert caught.value.non_retryable
    assert steps.rows() == []


async def test_a_repeated_attempt_gives_the_first_output_and_writes_nothing(steps: Steps) -> None:
    first = await steps.run(f"{PAY} RETURNING amount", amount=12)
    steps.bench.at_attempt(2)
    again = await steps.run(f"{PAY} RETURNING amount", amount=13)
    assert first.output == again.output == {"row_count": 1, "rows": [{"amount": 12}]}
    assert steps.rows() == [(12,)]
    assert "done by an earlier attempt" in again.log


async def test_autocommit_has_no_transaction_and_no_key(steps: Steps) -> None:
    with pytest.raises(ApplicationError) as refused:
        await steps.run("VACUUM")
    assert refused.value.non_retryable
    for _ in range(2):
        await steps.run(f"VACUUM; {PAY}", amount=12, autocommit=True)
    assert steps.rows() == [(12,), (12,)]


async def test_a_function_that_writes_in_a_query_is_found_out_by_the_database(on_postgresql: Steps) -> None:
    query = "SELECT nextval('payments_id_seq') AS n"
    assert (await on_postgresql.run(query)).output["rows"] == [{"n": 1}]
    assert (await on_postgresql.run(query)).output["rows"] == [{"n": 1}], "the second has the key of the first"


async def test_values_keep_their_types(on_postgresql: Steps) -> None:
    statement = """
    SELECT :day::date + 1 AS day, :n + 1 AS n, :yes::bool AS yes, :doc::jsonb -> 'a' AS doc, 2 = ANY(:list) AS member,
    NULL AS nothing, 1.50 AS price, 'infinity'::timestamptz AS never, '\\xff00'::bytea AS bytes, :none::int AS none,
    sum(i) AS total FROM generate_series(1, 3) i
    """
    given: dict[str, Any] = {"day": "2027-03-01", "n": 41, "yes": True, "doc": {"a": [1]}, "list": [1, 2], "none": None}
    assert (await on_postgresql.run(statement, **given)).output["rows"] == [
        {"day": "2027-03-02", "n": 42, "yes": True, "doc": [1], "member": True, "nothing": None}
        | {"price": "1.50", "never": "infinity", "bytes": "\\xff00", "none": None, "total": 6}
    ]


async def test_lists_and_mappings_are_json_for_sqlite(on_sqlite: Steps) -> None:
    statement = "SELECT sum(value) AS total, json_extract(:doc, '$.a') AS a, typeof(x'ff') AS kind, x'ff' AS x FROM json_each(:list)"
    output = (await on_sqlite.run(statement, list=[1, 2], doc={"a": 3})).output
    assert output["rows"] == [{"total": 3, "a": 3, "kind": "blob", "x": "\\xff"}]


async def test_a_value_is_never_read_as_sql(steps: Steps) -> None:
    evil = "'); DROP TABLE payments; --"
    assert (await steps.run("SELECT :evil AS a", evil=evil)).output["rows"] == [{"a": evil}]
    assert steps.rows() == []


async def test_templates_fill_parameters(steps: Steps) -> None:
    result = await steps.run("SELECT :day AS day", day="{scheduled_at:%Y-%m-%d}")
    assert result.output["rows"] == [{"day": "2027-03-01"}]


async def test_statements_and_notices_are_log_lines(on_postgresql: Steps) -> None:
    result = await on_postgresql.run("DO $$ BEGIN RAISE NOTICE 'halfway'; END $$; SELECT 1")
    assert "halfway" in result.log
    assert "rows=1" in result.log


async def test_the_role_may_not_make_the_table(postgres: PostgresServer, on_postgresql: Steps) -> None:
    import psycopg

    name = on_postgresql.url.partition("@/")[2].partition("?")[0]
    with psycopg.connect(postgres.url(name), autocommit=True) as connection:
        connection.execute("REVOKE CREATE ON SCHEMA public FROM app, pg_database_owner")
        connection.execute(f"ALTER DATABASE {name} OWNER TO postgres".encode())
    with pytest.raises(ApplicationError) as caught:
        await on_postgresql.run(PAY, amount=1)
    assert caught.value.non_retryable
    assert "tickwright_effects" in caught.value.message
    assert "activities.idempotency migrate" in caught.value.message
    assert "permission denied" in caught.value.message


@pytest.mark.parametrize(
    ("url", "words", "permanent"),
    [
        ("postgresql://app:hunter2@127.0.0.1:1/x?connect_timeout=2", "the database cannot be reached: ", False),
        ("postgresql://app:hunter2@/nothing?host={postgres}", 'database "nothing" does not exist', False),
        ("postgresql://app:hunter2@[oops/x", "the address of the database cannot be read", True),
        ("mysql://app:hunter2@127.0.0.1/x", "begins with neither postgresql:// nor sqlite:///", True),
        ("sqlite:///{folder}/none.db", "unable to open database file; a file that is not there is not made", False),
    ],
)
async def test_a_database_that_cannot_be_had_is_told_without_its_password(
    postgres: PostgresServer, tmp_path: Path, url: str, words: str, permanent: bool
) -> None:
    address = url.replace("{postgres}", str(postgres.folder)).replace("{folder}", str(tmp_path))
    async with bench(secrets={"DATABASE": address}) as made:
        with pytest.raises(ApplicationError) as caught:
            await made.run(step_call("sql", {"connection": "${secret:DATABASE}", "statement": "SELECT 1"}))
    assert words in caught.value.message
    assert "hunter2" not in f"{caught.value.message} {caught.value.details}"
    assert caught.value.non_retryable == permanent
    assert _files(tmp_path) == [], "no file was made"


@pytest.mark.parametrize(
    ("address", "driver", "module"),
    [("postgresql://db/x", "psycopg", "postgresql"), ("sqlite:////x.db", "aiosqlite", "sqlite")],
)
async def test_a_driver_that_is_not_installed_is_told(
    monkeypatch: pytest.MonkeyPatch, address: str, driver: str, module: str
) -> None:
    monkeypatch.setitem(sys.modules, driver, None)
    monkeypatch.delitem(sys.modules, f"activities.handlers.sql.{module}", raising=False)
    async with bench() as made:
        with pytest.raises(ApplicationError, match=r"install `tickwright\[sql\]`") as caught:
            await made.run(step_call("sql", {"connection": address, "statement": "SELECT 1"}))
    assert caught.value.non_retryable


async def test_the_password_is_masked_wherever_it_shows(postgres: PostgresServer) -> None:
    url = postgres.new_database().replace("app@", "app:hunter2@")
    async with bench(secrets={"DATABASE": url}) as made:
        params = {"connection": "${secret:DATABASE}", "statement": "SELECT 'hunter' || 2 AS a"}
        assert (await made.run(step_call("sql", params))).output["rows"] == [{"a": "***"}]


def _files(folder: Path) -> list[Path]:
    return list(folder.iterdir())


_TABLES = {
    "postgresql": "SELECT tablename FROM pg_tables WHERE schemaname = 'public'",
    "sqlite": "SELECT name FROM sqlite_master WHERE type = 'table'",
}


def _kind(steps: Steps) -> str:
    return steps.url.partition(":")[0]
