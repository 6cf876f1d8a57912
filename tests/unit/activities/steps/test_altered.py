"""What is masked before it is stored is for people to read: no later step takes it for what the step gave back."""

from __future__ import annotations

from typing import Any

import pytest

from activities.contract import Altered
from activities.errors import HandlerError
from activities.steps.altered import MOST_PLACES, Alterations, without
from activities.steps.readable import readable
from activities.steps.redact import Redactor
from activities.steps.step_output import Given
from activities.steps.template import render


def stored(output: Any, **secrets: str) -> Given:
    """The output of a step that used these secrets, as a later step is given it."""
    redactor, places = Redactor(), Alterations()
    for name, value in secrets.items():
        redactor.add(value, name)
    clean = redactor.value(readable(output, places.too_deep), places.masked)
    return Given(clean, places.found)


def used(text: str, output: Given, *, typed: bool = True) -> Any:
    return render(text, {"steps.export": output}, typed=typed)


def refusal(text: str, output: Given) -> str:
    with pytest.raises(HandlerError) as error:
        used(text, output)
    assert error.value.permanent
    return error.value.message


def test_a_masked_value_fails_the_step_that_uses_it_and_names_the_secret() -> None:
    output = stored({"file": "/data/app/export.csv", "rows": 3}, DB_USER="app")
    assert output.value == {"file": "/data/***/export.csv", "rows": 3}
    message = refusal("{steps.export.output.file}", output)
    assert "the secret `DB_USER`" in message
    assert "app" not in message
    assert used("{steps.export.output.rows}", output) == 3
    assert "`steps.export.output.file`: it contains the text of" in refusal("{steps.export.output}", output)
    assert "`DB_USER`" in refusal("{steps.export.output.file.x}", output)


def test_a_number_that_has_the_digits_of_a_short_secret_in_it_is_no_secret() -> None:
    output = stored(
        {"rows": 4711, "ratio": 0.47, "exit_code": 47, "pin": 47, "id": 12345678901}, PIN="47", KEY="34567890"
    )
    assert output.value == {"rows": 4711, "ratio": 0.47, "exit_code": 47, "pin": "***", "id": "***"}
    assert [used(f"{{steps.export.output.{key}}}", output) for key in ("rows", "ratio", "exit_code")] == [
        4711,
        0.47,
        47,
    ]
    assert "`PIN`" in refusal("{steps.export.output.pin}", output)


def test_what_stands_under_a_masked_key_cannot_be_used_and_no_path_shows_the_secret() -> None:
    output = stored({"by": {"sesame": {"rows": ["sesame"]}}, "n": 1}, TOKEN="sesame")
    assert "sesame" not in str(output)
    assert used("{steps.export.output.n}", output) == 1
    assert "`TOKEN`" in refusal("{steps.export.output.by}", output)
    assert "no `sesame`" in refusal("{steps.export.output.by.sesame}", output)


def test_items_of_lists_are_told_apart() -> None:
    output = stored([["a", "hunter22"], ["b"]], P="hunter22")
    assert used("{steps.export.output.1}", output) == ["b"]
    assert used("{steps.export.output.0.0}", output) == "a"
    assert "`P`" in refusal("{steps.export.output.0.1}", output)
    assert without(output.value, output.altered) == [["a", None], ["b"]]


def test_a_secret_of_another_step_has_no_name() -> None:
    known = Redactor(("hunter2-of-others",))
    places = Alterations()
    known.value({"a": "hunter2-of-others"}, places.masked)
    [place] = places.found
    assert place.path == ["a"]
    assert "a secret of the worker" in place.why


def test_many_places_are_told_by_what_is_above_them() -> None:
    output = stored({"a": ["hunter22"] * (MOST_PLACES + 1), "b": "hunter22", "c": 1}, P="hunter22")
    assert sorted(place.path for place in output.altered) == [["a"], ["b"]]
    assert used("{steps.export.output.c}", output) == 1
    whole = stored(["hunter22"] * (MOST_PLACES + 1), P="hunter22")
    assert [place.path for place in whole.altered] == [[]]
    assert without(whole.value, whole.altered) is None


def test_what_is_nested_too_deep_is_not_used_either() -> None:
    deep: Any = "x"
    for _ in range(200):
        deep = [deep]
    output = stored({"deep": deep, "n": 1})
    assert "nested more than 100 levels deep" in refusal("{steps.export.output.deep.0}", output)
    assert used("{steps.export.output.n}", output) == 1


def test_nothing_altered_is_the_very_value() -> None:
    value = {"a": [1]}
    assert without(value, []) is value
    assert without(value, [Altered(["b"], "")]) == value
