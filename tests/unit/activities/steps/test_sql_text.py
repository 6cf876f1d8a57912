"""A script is cut at its semicolons and nowhere else, and `:name` is a parameter only where PostgreSQL would read code."""

from __future__ import annotations

import sqlite3

import pytest
from hypothesis import given
from hypothesis import strategies as st

from activities.steps.sql_text import Statement, statements

QUOTED = [
    "';'",
    "'it''s; :a'",
    "e'\\';:a'",
    '":a;"',
    "`;`",
    "$$ ; :a $$",
    "$body$ ; $$ :a $body$",
    "-- ; :a\n",
    "/* ; :a */",
]
PLAIN = ["SELECT", "x", "1", "::int", ":=", ",", "a[1:2]", "%", "$1", "?", "\n"]


def texts(script: str) -> list[str]:
    return [statement.with_places("$").strip() for statement in statements(script)]


@pytest.mark.parametrize(
    ("script", "parts"),
    [
        ("", []),
        (" ; -- nothing\n;", []),
        ("SELECT 1;", ["SELECT 1"]),
        ("SELECT 1; SELECT 2", ["SELECT 1", "SELECT 2"]),
        ("SELECT ';'; SELECT 2", ["SELECT ';'", "SELECT 2"]),
        ("DO $x$ BEGIN; END $x$; SELECT 2", ["DO $x$ BEGIN; END $x$", "SELECT 2"]),
        (
            "CREATE TRIGGER t AFTER INSERT ON a BEGIN UPDATE b SET c = CASE WHEN 1 THEN 2 END; DELETE FROM d; END; SELECT 2",
            [
                "CREATE TRIGGER t AFTER INSERT ON a BEGIN UPDATE b SET c = CASE WHEN 1 THEN 2 END; DELETE FROM d; END",
                "SELECT 2",
            ],
        ),
        ("BEGIN; SELECT 1; END; SELECT 2", ["BEGIN", "SELECT 1", "END", "SELECT 2"]),
    ],
)
def test_a_script_is_cut_at_the_semicolons_between_its_statements(script: str, parts: list[str]) -> None:
    assert texts(script) == parts


def test_a_parameter_is_numbered_by_its_first_place() -> None:
    [statement] = statements("UPDATE t SET a = :b, c = :a WHERE d[1:2] = :b::int[] AND e = ':a' AND f(g := 1)")
    assert statement.parameters == ["b", "a"]
    assert (
        statement.with_places("$") == "UPDATE t SET a = $1, c = $2 WHERE d[1:2] = $1::int[] AND e = ':a' AND f(g := 1)"
    )


@given(st.lists(st.sampled_from([*QUOTED, *PLAIN]), max_size=8))
def test_what_stands_in_quotes_and_comments_is_neither_cut_nor_replaced(pieces: list[str]) -> None:
    text = "SELECT " + " ".join(pieces)
    assert [statement.with_places("$") for statement in statements(text)] == [text]


TRIGGER = "CREATE TRIGGER t AFTER INSERT ON a BEGIN DELETE FROM b; SELECT ';'; END"
IN_SQLITE = ["';'", "'it''s'", '";"', "`;`", "-- ;\n", "/* ; */", "SELECT 1", "x", ";", f";{TRIGGER};"]


@given(st.lists(st.sampled_from(IN_SQLITE), max_size=12))
def test_sqlite_cuts_at_the_same_places(pieces: list[str]) -> None:
    """As its shell does: a statement goes on until SQLite calls it complete."""
    cut, rest = [], ""
    for character in " ".join(pieces) + "\n;":
        rest += character
        if character == ";" and sqlite3.complete_statement(rest):
            cut.append(rest.removesuffix(";"))
            rest = ""
    expected = [text for text in cut if statements(text)]
    assert [statement.with_places("$") for statement in statements(" ".join(pieces) + "\n")] == expected


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("SELECT 1", True),
        ("WITH a AS (SELECT 1) SELECT * FROM a", True),
        ("VALUES (1)", True),
        ("SELECT 'insert into x'", True),
        ("SELECT a INTO b FROM c", False),
        ("SELECT 1 FOR UPDATE", False),
        ("WITH a AS (DELETE FROM b RETURNING *) SELECT * FROM a", False),
        ("EXPLAIN ANALYZE DELETE FROM b", False),
        ("INSERT INTO a VALUES (1)", False),
        ("VACUUM", False),
    ],
)
def test_what_looks_like_a_query_names_nothing_that_writes(text: str, query: bool) -> None:
    assert [statement.looks_like_query for statement in statements(text)] == [query]


def test_a_statement_is_shown_by_its_first_words_and_its_line() -> None:
    first, second = statements("-- why\nDELETE\n  FROM a -- all\n WHERE b = :c;\n\nSELECT " + "x, " * 50 + "y")
    assert (first.line, first.title) == (2, "DELETE FROM a WHERE b = :c")
    assert (second.line, len(second.title)) == (6, 61)
    assert isinstance(first, Statement)
