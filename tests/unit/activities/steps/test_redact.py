"""Secrets do not leave a step."""

from __future__ import annotations

import base64
import json
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING
from urllib.parse import quote, quote_plus, urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from activities.steps.redact import Redactor, forms_of, redact_event, use_redactor

if TYPE_CHECKING:
    from collections.abc import Callable

SECRET = 'p4ss/w"ord+ü=\\n&%'


def redactor(*secrets: str) -> Redactor:
    """One that knows these secrets."""
    made = Redactor()
    for secret in secrets:
        made.add(secret)
    return made


@pytest.mark.parametrize(
    "shown",
    [
        SECRET,
        json.dumps({"token": SECRET}),
        json.dumps({"token": SECRET}, ensure_ascii=False),
        repr(SECRET),
        quote(SECRET),
        quote(SECRET, safe=""),
        quote_plus(SECRET),
        urlencode({"t": SECRET}).lower(),
    ],
)
def test_secret_is_found_in_its_disguises(shown: str) -> None:
    clean = redactor(SECRET).text(f"before {shown} after")
    assert "***" in clean
    assert "p4ss" not in clean
    assert clean.startswith("before ")
    assert clean.endswith(" after")


@pytest.mark.parametrize("user", ["", "a:", "ab:", "abc:", "someone:"])
@pytest.mark.parametrize("encode", [base64.b64encode, base64.urlsafe_b64encode])
def test_secret_is_found_in_basic_authentication(user: str, encode: Callable[[bytes], bytes]) -> None:
    header = encode((user + SECRET).encode()).decode()
    clean = redactor(SECRET).text(f"Authorization: Basic {header}")
    assert "***" in clean
    rest = clean.removeprefix("Authorization: Basic ").split("***")
    assert sum(map(len, rest)) <= len(base64.b64encode(user.encode())) + 4


def test_json_values_are_cleaned_in_keys_strings_and_numbers() -> None:
    clean = redactor("12345678", "sesame").value(
        {"sesame-x": ["a sesame b", 12345678, 1.5, True, None], "n": {"k": "ok"}}
    )
    assert clean == {"***-x": ["a *** b", "***", 1.5, True, None], "n": {"k": "ok"}}


def test_a_long_secret_wins_over_one_that_begins_it() -> None:
    assert redactor("abc", "abcdef").text("abcdef abc") == "*** ***"


def test_lines_of_a_long_secret_are_secret_too() -> None:
    key = "-----BEGIN KEY-----\nMIIBVwIBADANBgkq\nabc\n-----END KEY-----"
    assert "MIIBVwIBADANBgkq" not in redactor(key).text("read line MIIBVwIBADANBgkq of the key")


@given(
    st.text("ab", min_size=1, max_size=6), st.text("abc", max_size=12), st.text("abc", max_size=12), st.integers(0, 30)
)
def test_no_part_of_a_secret_is_left_at_a_cut(secret: str, before: str, after: str, cut: int) -> None:
    """What is kept of a cut output neither begins with an end of the secret nor ends with a beginning of it."""
    known = redactor(secret)
    whole = before + secret + after
    tail = known.text(whole[cut:], cut_start=True)
    head = known.text(whole[:cut], cut_end=True)
    assert not any(tail.startswith(secret[-size:]) for size in range(1, len(secret) + 1)) or tail.startswith("***")
    assert not any(head.endswith(secret[:size]) for size in range(1, len(secret) + 1)) or head.endswith("***")


def test_nothing_known_changes_nothing() -> None:
    assert Redactor().text("x", cut_start=True) == "x"
    assert Redactor().value({"a": [1]}) == {"a": [1]}


def test_log_lines_of_a_step_are_cleaned() -> None:
    use_redactor(redactor("sesame"))
    event = redact_event(None, "info", {"event": "got sesame", "error": ValueError("sesame"), "n": 3, "fine": [1]})
    assert event == {"event": "got ***", "error": "***", "n": 3, "fine": [1]}


def test_a_secret_of_one_letter_leaves_our_own_keys_alone() -> None:
    value = {"exit_code": 1, "stdout": "to be", "note": {"t": 2}}
    assert redactor("t").value(value) == {"exit_code": 1, "stdout": "***o be", "no***e": {"***": 2}}


def test_a_thread_of_a_handlers_own_is_cleaned_as_well() -> None:
    """It does not inherit the step's context."""
    known = redactor("open-sesame")
    use_redactor(known)
    with ThreadPoolExecutor(1) as pool:
        event = pool.submit(redact_event, None, "info", {"event": "got open-sesame"}).result()
    assert event == {"event": "got ***"}


@pytest.mark.parametrize("shown", [SECRET, repr(SECRET), quote(SECRET), base64.b64encode(SECRET.encode()).decode()])
def test_a_secret_that_the_step_has_not_used_is_found_too(shown: str) -> None:
    known = Redactor(forms_of([SECRET]))
    known.add("sesame")
    assert "p4ss" not in known.text(f"before {shown} after")
    assert known.text(f"before {SECRET} sesame after") == "before *** *** after"
    assert known.value({"a": [{"b": SECRET}], "c": 1}) == {"a": [{"b": "***"}], "c": 1}


def test_short_secrets_and_common_lines_are_taken_out_of_no_step_that_has_not_used_them() -> None:
    known = Redactor(
        forms_of(["prod", "seven77", "eight888", "first line\nsecond line\nthe line that is the secret itself"])
    )
    assert known.text("in prod, on the first line") == "in prod, on the first line"
    assert known.text("seven77 eight888") == "seven77 ***"
    assert known.text("x the line that is the secret itself") == "x ***"


def test_a_cut_output_loses_no_text_to_secrets_that_the_step_has_not_used_but_a_long_rest_of_one() -> None:
    known = Redactor(forms_of(["hunter22-hunter23"]))
    assert known.text("3 done", cut_start=True) == "3 done"
    assert known.text("hunter23 done", cut_start=True) == " done"
    assert known.text("done hunter22", cut_end=True) == "done "


@given(
    st.recursive(
        st.text("ab\"'\\\n", max_size=5), lambda inner: st.lists(inner) | st.dictionaries(st.text("ab"), inner)
    )
)
def test_a_value_is_cleaned_wherever_a_secret_is_in_it(value: object) -> None:
    secret = 'a"b'
    clean = json.dumps(redactor(secret).value(value), ensure_ascii=False)
    assert json.dumps(secret)[1:-1] not in clean
