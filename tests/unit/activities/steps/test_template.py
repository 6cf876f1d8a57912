"""Templates in parameters (DESIGN, the spec file)."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from activities.errors import HandlerError
from activities.steps.step_output import Given
from activities.steps.template import NAMES, STABLE_NAMES, check, names_used, outputs_used, parts, render, secrets_used

NEW_YORK = ZoneInfo("America/New_York")
VALUES: dict[str, datetime | str | int] = {
    "scheduled_at": datetime(2027, 3, 1, 8, 0, tzinfo=NEW_YORK),
    "interval_start": datetime(2027, 2, 26, 8, 0, tzinfo=NEW_YORK),
    "last_success": datetime(2027, 2, 25, 8, 0, tzinfo=NEW_YORK),
    "interval_end": datetime(2027, 3, 1, 8, 0, tzinfo=NEW_YORK),
    "job": "invoice-dunning",
    "step": "run",
    "run_id": "4f1c",
    "attempt": 2,
}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ""),
        ("plain $5 and 100%", "plain $5 and 100%"),
        ("{job}/{step}/{run_id}/{attempt}", "invoice-dunning/run/4f1c/2"),
        ("{scheduled_at:%F}", "2027-03-01"),
        ("{scheduled_at:%Y-%m-%dT%H:%M:%S%z}", "2027-03-01T08:00:00-0500"),
        ("{scheduled_at}", "2027-03-01T08:00:00-05:00"),
        ("{interval_start:%d.%m.%y} to {interval_end:%d.%m.%y}", "26.02.27 to 01.03.27"),
        ("{scheduled_at:%s}", "1803906000"),  # date -u -d 2027-03-01T13:00:00Z +%s
        ("{scheduled_at:%%s}", "%s"),
        ("{{job}}", "{job}"),
        ("{{{job}}}", "{invoice-dunning}"),
        ("${{HOME}}/x", "${HOME}/x"),
        ("${{secret:TOKEN}}", "${secret:TOKEN}"),
        ("awk '{{print $1}}'", "awk '{print $1}'"),
    ],
)
def test_template_renders(text: str, expected: str) -> None:
    assert render(text, VALUES) == expected
    assert check(text) == []


def test_times_in_utc_end_in_z() -> None:
    assert render("{scheduled_at}", {"scheduled_at": datetime(2027, 3, 1, 13, tzinfo=UTC)}) == "2027-03-01T13:00:00Z"
    assert render("{scheduled_at}", {"scheduled_at": datetime(2027, 3, 1, 13, tzinfo=ZoneInfo("UTC"))}).endswith("Z")


def test_london_in_winter_keeps_its_offset() -> None:
    """Zero offset by chance is not UTC: in summer the same job shows +01:00."""
    when = datetime(2027, 1, 1, 13, tzinfo=ZoneInfo("Europe/London"))
    assert render("{scheduled_at}", {"scheduled_at": when}) == "2027-01-01T13:00:00+00:00"


def test_unix_time_does_not_depend_on_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    try:
        assert render("{scheduled_at:%s}", VALUES) == "1803906000"
    finally:
        monkeypatch.undo()
        time.tzset()


def test_only_strings_are_rendered_and_keys_stay() -> None:
    value = {"job": ["{job}", 1, None, True, {"x": "{attempt}"}]}
    assert render(value, VALUES) == {"job": ["invoice-dunning", 1, None, True, {"x": "2"}]}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "{jobb}",
            [
                "`{jobb}`",
                "attempt, interval_end, interval_start, job, last_success, run_id, scheduled_at, step",
                "`{{jobb}}`",
            ],
        ),
        ("{job.__class__}", ["`{job.__class__}`", "is not a template here"]),
        ("{job[0]}", ["is not a template here"]),
        ("{job!r}", ["is not a template here"]),
        ("{0}", ["is not a template here"]),
        ("{}", ["is not a template here", "`{{}}`"]),
        ("{ job }", ["is not a template here"]),
        ("cd ${HOME}", ["`${HOME}`", "`${{HOME}}`"]),
        ("{secret:TOKEN}", ["`${secret:NAME}`"]),
        ("${secrets:TOKEN}", ["`${secret:NAME}`"]),
        ('{"a": 1}', ['`{{"a": 1}}`']),
        ("{job", ["single `{`", "`{{`"]),
        ("job}", ["single `}`", "`}}`"]),
        ("{scheduled_at:{job}}", ["single `{`"]),
        ("{job:%F}", ["`job` takes no format", "`{job}`"]),
        ("{scheduled_at:F}", ["`F`", "is not a date format"]),
        ("{scheduled_at:%Q}", ["is not a date format"]),
        ("{scheduled_at:%Y%}", ["is not a date format"]),
        ("{scheduled_at:}", ["is not a date format"]),
        ("${secret:}", ["is not a name of a secret"]),
        ("${secret:a-b}", ["is not a name of a secret"]),
        ("${secret:../x}", ["is not a name of a secret"]),
        ("${secret:1A}", ["is not a name of a secret"]),
    ],
)
def test_wrong_template_is_a_problem_for_lint_and_a_permanent_error_at_run_time(text: str, said: list[str]) -> None:
    problems = check({"deep": ["ok", text]})
    assert problems[0].path == ("deep", 1)
    with pytest.raises(HandlerError) as failure:
        render(text, VALUES, secret=lambda _name: "")
    assert failure.value.permanent
    for words in said:
        assert words in problems[0].message
        assert words in failure.value.message


def test_all_problems_are_found_in_reading_order() -> None:
    found = check({"a": "{x} {y}", "b": {"c": ["fine", "{z}"]}})
    assert [problem.path for problem in found] == [("a",), ("a",), ("b", "c", 1)]


def test_names_can_be_narrowed_for_what_must_not_change_between_attempts() -> None:
    assert check("{attempt}", NAMES) == []
    assert "attempt" not in STABLE_NAMES
    assert len(check("{attempt}", STABLE_NAMES)) == 1


def test_secret_is_resolved_in_the_same_pass() -> None:
    """Neither does a secret's value count as a template nor a template's value as a secret reference."""
    names = {"job": "${secret:OTHER}"}
    assert render("{job} ${secret:TOKEN}", names, secret=lambda name: f"{{job}}{name}") == "${secret:OTHER} {job}TOKEN"


def test_secret_without_a_resolver_is_a_permanent_error() -> None:
    with pytest.raises(HandlerError, match="history") as failure:
        render("${secret:TOKEN}", VALUES)
    assert failure.value.permanent


def test_what_a_value_mentions() -> None:
    value = {"a": "{interval_start:%F} ${secret:A}", "b": ["{{job}}", "${secret:B}"]}
    assert names_used(value) == {"interval_start"}
    assert secrets_used(value) == [(("a",), "A"), (("b", 1), "B")]


def test_text_splits_into_its_parts() -> None:
    found = [(part.kind, part.text) for part in parts("a{job}b{{c}}d}e$${secret:X}f{")]
    assert found == [
        ("text", "a"),
        ("field", "job"),
        ("text", "b"),
        ("text", "{"),
        ("text", "c"),
        ("text", "}"),
        ("text", "d"),
        ("stray", "}"),
        ("text", "e$"),
        ("secret", "X"),
        ("text", "f"),
        ("stray", "{"),
    ]


@pytest.mark.parametrize(
    ("value", "path"),
    [
        ({"json": {"${secret:TOK}": 1}}, ("json", "${secret:TOK}")),
        ({"env": {"A{job}": "x"}}, ("env", "A{job}")),
        ([{"{nope}": [1]}], (0, "{nope}")),
    ],
)
def test_a_key_that_looks_like_a_template_is_refused(value: Any, path: tuple[str | int, ...]) -> None:
    [problem] = check(value)
    assert problem.path == path
    assert "keys are literal" in problem.message
    with pytest.raises(HandlerError, match="keys are literal"):
        render(value, VALUES, secret=lambda _: "x")


def test_other_keys_with_braces_are_literal() -> None:
    value = {"{": 1, "{{job}}": 2, "$}": 3, 4: 5}
    assert check(value) == []
    assert render(value, VALUES) == value


OUTPUTS = {
    "job": "{steps.export.output.secret}",
    "steps.export": Given(
        {
            "rows": 3,
            "ratio": 0.5,
            "files": [{"name": "a b.csv"}, None],
            "0": "zero",
            "ok": True,
            "secret": "x",
        }
    ),
    "steps.post": Given([["first"]]),
}


@pytest.mark.parametrize(
    ("text", "amid_text", "typed"),
    [
        ("{steps.export.output.rows}", "3", 3),
        ("{steps.export.output.ratio}", "0.5", 0.5),
        ("{steps.export.output.ok}", "true", True),
        ("{steps.export.output.files.1}", "null", None),
        ("{steps.export.output.files.0.name}", "a b.csv", "a b.csv"),
        ("{steps.export.output.files}", '[{"name":"a b.csv"},null]', [{"name": "a b.csv"}, None]),
        ("{steps.export.output.0}", "zero", "zero"),
        ("{steps.post.output.0.0}", "first", "first"),
        ("n={steps.export.output.rows}", "n=3", "n=3"),
        ("{{steps.export.output.rows}}", "{steps.export.output.rows}", "{steps.export.output.rows}"),
        ("{job}", "{steps.export.output.secret}", "{steps.export.output.secret}"),
    ],
)
def test_an_output_keeps_its_type_where_json_is_sent_and_is_text_elsewhere(
    text: str, amid_text: str, typed: object
) -> None:
    assert render([text], OUTPUTS) == [amid_text]
    assert render([text], OUTPUTS, typed=True) == [typed]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "{steps.export.output.row}",
            "`steps.export.output` has no `row`; its keys are: 0, files, ok, ratio, rows, secret",
        ),
        ("{steps.export.output.files.2}", "`steps.export.output.files` is a list of 2 items and has no `2`"),
        ("{steps.export.output.files.-1}", "has no `-1`; the first item is 0"),
        ("{steps.export.output.rows.x}", "`steps.export.output.rows` is a number, which has no `x`"),
        ("{steps.export.output.files.1.x}", "is null, which has no `x`"),
        ("{steps.export.output.ok.x}", "is true or false, which has no `x`"),
        ("{steps.export.output.0.x}", "is a text of 4 characters, which has no `x`"),
        ("{steps.audit.output.x}", "the step `audit` has no output, because it did not succeed"),
    ],
)
def test_an_output_that_is_not_there_is_a_permanent_error_that_says_what_is(text: str, said: str) -> None:
    for typed in (False, True):
        with pytest.raises(HandlerError) as failure:
            render({"a": text}, OUTPUTS, typed=typed)
        assert failure.value.permanent
        assert said in failure.value.message


def test_outputs_used_are_named_by_their_steps() -> None:
    value = ["{steps.a.output.x} {steps.b.output}", {"c": "{{steps.c.output}} {job}"}]
    assert outputs_used(value) == {"a", "b"}
