"""Keys of encryption: where they come from, and that no message shows one."""

from __future__ import annotations

import base64
import os
from pathlib import Path

import pytest

from schedules.errors import SettingsError
from schedules.server.codec_keys import KEYS, KEYS_FILE, CodecKeys, codec_keys, parse_keys

ONE, TWO = bytes(range(32)), bytes(range(100, 132))


def text(key: bytes) -> str:
    return base64.b64encode(key).decode()


def refusal(environ: dict[str, str]) -> str:
    with pytest.raises(SettingsError) as refused:
        codec_keys(environ)
    assert refused.value.exit_code == 2
    return str(refused.value)


def test_without_a_setting_there_is_no_key() -> None:
    assert codec_keys({}) == codec_keys({KEYS: "", KEYS_FILE: ""}) == CodecKeys("", {})


@pytest.mark.parametrize(
    "given",
    [
        f"new:{text(ONE)},old:{text(TWO)}",
        f" new : {text(ONE)} , old:{text(TWO)} ,",
        f"# made on Monday\nnew:{text(ONE)}\n\nold:{text(TWO)}  # until June\n",
        f"new:{base64.urlsafe_b64encode(ONE).decode()}\nold:{base64.urlsafe_b64encode(TWO).decode()}",
    ],
)
def test_the_first_key_encrypts_and_all_decrypt(given: str, tmp_path: Path) -> None:
    wanted = CodecKeys("new", {"new": ONE, "old": TWO})
    file = tmp_path / "keys"
    file.write_text(given)
    assert codec_keys({KEYS: given}) == codec_keys({KEYS_FILE: str(file)}) == wanted


def test_off_in_the_first_place_encrypts_nothing_and_still_reads() -> None:
    assert parse_keys(f"off, old:{text(TWO)}", "here") == CodecKeys("", {"old": TWO})


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (text(ONE), f"{KEYS}: entry 1: no id before a colon"),
        (f"a:{text(ONE)},{text(TWO)}", f"{KEYS}: entry 2: no id before a colon"),
        (f"{text(ONE)}:a", f"{KEYS}: entry 1: no id before a colon"),
        (f"a b:{text(ONE)}", f"{KEYS}: entry 1: no id before a colon"),
        (f"a:{text(ONE)[:-4]}", f"{KEYS}: entry 1 (`a`): the key has 30 bytes; write `id:` and 32 bytes in base64"),
        (f"a:{text(ONE + TWO)}", f"{KEYS}: entry 1 (`a`): the key has 64 bytes"),
        (f"a:{text(ONE)[:-1]}", f"{KEYS}: entry 1 (`a`): what follows the colon is no base64"),
        (f"a:é{text(ONE)}", f"{KEYS}: entry 1 (`a`): what follows the colon is no base64"),
        (f"a:{text(ONE)},a:{text(TWO)}", f"{KEYS}: entry 2: the id `a` is given twice"),
        (f"a:{text(ONE)},off", f"{KEYS}: entry 2: no id before a colon"),
        (" , ", f"{KEYS}: there is no key in it"),
        ("off", f"{KEYS}: there is no key in it"),
    ],
)
def test_what_is_no_key_is_told_without_showing_it(given: str, said: str) -> None:
    message = refusal({KEYS: given})
    assert message.startswith(said)
    assert "openssl rand -base64 32" in message or "each key needs its own" in message
    for secret in (text(ONE), text(TWO)):
        assert not any(secret[start : start + 6] in message for start in range(38))


def test_both_settings_at_once_are_refused() -> None:
    assert refusal({KEYS: f"a:{text(ONE)}", KEYS_FILE: "/keys"}) == f"{KEYS} and {KEYS_FILE} are both set; keep one"


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    assert refusal({KEYS_FILE: f"{tmp_path}/gone"}) == (
        f"{KEYS_FILE}={tmp_path}/gone: cannot be read: No such file or directory"
    )
    (tmp_path / "raw").write_bytes(b"\xff" + os.urandom(31))
    assert refusal({KEYS_FILE: f"{tmp_path}/raw"}).startswith(f"{KEYS_FILE}={tmp_path}/raw: this is no text; ")


def test_keys_are_in_no_repr() -> None:
    assert repr(CodecKeys("a", {"a": b"secret"})) == "CodecKeys(active='a')"
