"""A `sql` step: what it compiles to, and what lint says of its SQL."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import ValidationError

from activities.steps.template import render
from schedules.compile.steps import compile_steps
from schedules.lint.load import load_checked
from schedules.spec.handlers import RunSpec
from schedules.spec.kinds.sql import SqlSpec
from schedules.spec.kinds.sql_faults import sql_faults

GOOD = Path(__file__).parents[3] / "specs" / "good"
SAMPLE = Path(__file__).parents[4] / "examples" / "sql" / "shop.yaml"


def test_a_script_goes_to_the_worker_as_it_was_written() -> None:
    jobs = {job.name: job for job in load_checked([str(GOOD / "sql.yaml")], None).jobs}

    [cleanup] = compile_steps(jobs["cleanup"])
    assert render(cleanup.params["statement"], {}) == (
        """DELETE FROM carts WHERE doc @> '{"a": {}}' AND changed_at < :before"""
    )
    assert cleanup.params["parameters"] == {"before": "{scheduled_at}"}
    load, vacuum = compile_steps(jobs["nightly"])
    assert load.params["statement"] == (GOOD.parent / "sql" / "load.sql").read_text()
    assert load.params["file"] == "../sql/load.sql"
    assert vacuum.params == {"connection": "sqlite:////data/shop.db", "statement": "VACUUM", "autocommit": True}


def test_the_sample_has_no_fault() -> None:
    [revenue, vacuum] = load_checked([str(SAMPLE)], None).jobs
    described = revenue.steps[0].handler.described()
    assert (described[:24], described[-12:]) == ("sql `INSERT INTO revenue", "` and 2 more")
    assert vacuum.run


def test_people_see_the_first_statement() -> None:
    spec = SqlSpec(connection="${secret:DB}", statement="DELETE FROM a;\n-- then\nDELETE FROM b; SELECT 1")
    assert RunSpec(sql=spec).handler.described() == "sql `DELETE FROM a` and 2 more"


def test_a_python_job_reads_its_file_itself() -> None:
    with pytest.raises(ValidationError, match=r"statement=Path\(…\)\.read_text\(\)"):
        SqlSpec(connection="${secret:DB}", file="a.sql")


@pytest.mark.parametrize(
    ("text", "parameters", "words"),
    [
        ("-- later", "", "holds no statement"),
        (
            "DELETE FROM a WHERE day = '{scheduled_at:%F}'",
            "",
            'write `:scheduled_at` there without quotes, and `parameters: {scheduled_at: "{scheduled_at:%F}"}`',
        ),
        ("SELECT {steps.load.output.rows}", "", 'write `:rows` there without quotes, and `parameters: {rows: "{steps'),
        ("SELECT '${secret:PIN}'", "", 'write `:pin` there, and `parameters: {pin: "${secret:PIN}"}`'),
        ("SELECT :befroe", "before", "`:befroe` has no value; did you mean `before`?"),
        ("SELECT a[i:j]", "", "`:j` has no value; add it to `parameters` (a slice of an array is written with blanks"),
        ("SELECT ':day'", "day", "the parameter `day` is not used; `:day` stands within quotes"),
        ("SELECT 1", "day", "the parameter `day` is not used; write `:day` where it belongs"),
        ("SELECT 1;\nSELECT %(day)s", "", "line 2: `%(day)s` is no parameter here; write `:day`"),
        ("SELECT $1", "", "line 1: `$1` is no parameter here; write `:name`"),
        ("\\copy a FROM 'a.csv'", "", "`\\copy` is a command of psql"),
        ("COPY a FROM STDIN", "", "`COPY` has no data"),
        ("BEGIN; SELECT 1", "", "line 1: `BEGIN`: the whole step is one transaction already"),
        ("SELECT 1;\nVACUUM FULL a", "", "line 2: `VACUUM FULL a` cannot be in a transaction; add `autocommit: true`"),
        ("CREATE UNIQUE INDEX CONCURRENTLY i ON a (b)", "", "cannot be in a transaction"),
        ("REINDEX TABLE CONCURRENTLY a", "", "cannot be in a transaction"),
    ],
)
def test_lint_says_what_is_wrong_and_what_to_write(text: str, parameters: str, words: str) -> None:
    found = list(sql_faults(text, parameters.split(), autocommit=False))
    assert any(words in message for message in found), found


@pytest.mark.parametrize(
    "text",
    [
        "SELECT '{1,2}'::int[], '{\"a\": {\"b\": 1}}'::jsonb, '{{1},{2}}'::int[][], '{}'",
        "SELECT a[1:2], a[i : j], 'at 12:30', f(b := 1), 10 % 3, '%s', \"$1\" FROM t -- :not",
        "DO $$ BEGIN PERFORM 1; END $$",
        "SAVEPOINT a; SELECT 1; ROLLBACK TO a",
        "CREATE INDEX i ON a (b)",
        "CREATE FUNCTION f() RETURNS int BEGIN ATOMIC SELECT 1; END",
    ],
)
def test_ordinary_sql_has_no_fault(text: str) -> None:
    assert list(sql_faults(text, (), autocommit=False)) == []


@pytest.mark.parametrize("text", ["VACUUM", "BEGIN; SELECT 1; COMMIT"])
def test_without_a_transaction_everything_goes(text: str) -> None:
    assert list(sql_faults(text, (), autocommit=True)) == []
