"""Keys that a command says with its last line, read byte by byte as lines are."""

from __future__ import annotations

import json
from typing import Any

import pytest

from activities.handlers.keys import keys_of, with_keys
from activities.steps.output import MAX_OUTPUT, stored_size
from activities.steps.step_output import Given
from activities.steps.template import render

ROWS = b'{"rows": 3}'


@pytest.mark.parametrize(
    "stdout",
    [
        b"working\n" + ROWS,
        b"working\n" + ROWS + b"\r\n\n",
        b"\xef\xbb\xbf" + ROWS,
        b"working\n\xef\xbb\xbf" + ROWS + b"\n",
        b"10%\r100%\r" + ROWS + b"\n",
        b'{\n  "rows": 3\n}\n',
        b'\xef\xbb\xbf{\n  "rows": 3\n}\n',
    ],
)
def test_keys_are_found(stdout: bytes) -> None:
    assert keys_of(stdout, cut=False) == ({"rows": 3}, "")


@pytest.mark.parametrize("separator", ["\u2028", "\u2029", "\u0085", "\x0b", "\x0c", "\x1c", "\x1e"])
def test_only_a_line_feed_ends_a_line(separator: str) -> None:
    text = json.dumps({"rows": 3, "t": f"a{separator}b"}, ensure_ascii=False)
    stdout = f"some{separator}words\n{text}\n".encode()
    assert keys_of(stdout, cut=False) == ({"rows": 3, "t": f"a{separator}b"}, "")


@pytest.mark.parametrize(
    ("stdout", "cut", "fault"),
    [
        (b"done\n", False, ""),
        (b"", False, ""),
        (b"[1]\n", False, ""),
        (b'{"rows": 3,}\n', False, "not valid JSON: "),
        (b'{"rows": 1e999}\n', False, "1e999"),
        (b'{"rows": NaN}\n', False, "NaN"),
        (b'a": 1}\n', True, "too long to be kept"),
        (b'x\n{"a": 1\n', True, "not valid JSON: "),
    ],
)
def test_where_there_seem_to_be_keys_it_is_said_why_there_are_none(stdout: bytes, cut: bool, fault: str) -> None:
    keys, why = keys_of(stdout, cut=cut)
    assert keys == {}
    assert fault in why
    assert bool(fault) == bool(why)


@pytest.mark.parametrize("text", ["x", "\0", "é", "\n"])
@pytest.mark.parametrize("size", [0, 1_000, 50_000, 63_000, 65_000, 200_000])
def test_keys_have_the_room_before_texts(size: int, text: str) -> None:
    keys: dict[str, Any] = {"data": "k" * size} if size else {}
    output = with_keys(keys, "", 0, {"stdout": text * 8192, "stderr": text * 8192})
    assert stored_size(output) <= MAX_OUTPUT
    assert output["exit_code"] == 0
    if size <= 63_000:
        assert output["data" if size else "exit_code"] in ("k" * size, 0)
    else:
        assert "takes" in output["no_keys"]


def test_a_step_that_asks_for_a_key_is_told_why_there_is_none() -> None:
    for stdout, why in (("done", "is not a JSON object"), ('{"rows": 3,}', "is not valid JSON")):
        output = with_keys(*keys_of(stdout.encode(), cut=False), 0, {"stdout": stdout, "stderr": ""})
        with pytest.raises(Exception, match=why):
            render("{steps.export.output.rows}", {"steps.export": Given(output)})
