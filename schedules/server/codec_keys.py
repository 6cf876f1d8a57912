"""The keys of payload encryption, from the environment: the same for every command and worker that makes a client."""

from __future__ import annotations

import base64
import binascii
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from schedules.errors import SettingsError

KEYS, KEYS_FILE = "TICKWRIGHT_CODEC_KEYS", "TICKWRIGHT_CODEC_KEYS_FILE"
TOKEN = "TICKWRIGHT_CODEC_TOKEN"  # noqa: S105 - the name of a setting
SETTINGS = {
    KEYS_FILE: "File with the keys that encrypt payloads, one `id:base64 of 32 bytes` a line; the first encrypts.",
    KEYS: "The same keys without a file, comma-separated.",
    TOKEN: "What callers of the codec server must send as `Authorization: Bearer …`.",
}
"""What is read from the environment alone, by commands and workers alike."""
OFF = "off"
"""In the place of the first key: nothing is encrypted, and what the other keys encrypted is still read."""
KEY_BYTES = 32
ID = re.compile(r"[A-Za-z0-9._-]{1,32}")
"""Shorter than a key in base64, so that a message which names an id can never show a key."""
ADVICE = f"write `id:` and {KEY_BYTES} bytes in base64, which `openssl rand -base64 {KEY_BYTES}` makes"


@dataclass(frozen=True, slots=True)
class CodecKeys:
    """Keys by id, all of which decrypt; `active` names the one that encrypts, and is empty where nothing is encrypted."""

    active: str = ""
    keys: Mapping[str, bytes] = field(default_factory=dict, repr=False)


def codec_keys(environ: Mapping[str, str] = os.environ) -> CodecKeys:
    """The keys in force, none where no setting names any. Raises SettingsError, whose text never shows a part of a key."""
    text, file = environ.get(KEYS, ""), environ.get(KEYS_FILE, "")
    if text and file:
        raise SettingsError(f"{KEYS} and {KEYS_FILE} are both set; keep one")
    if not file:
        return parse_keys(text, KEYS) if text else CodecKeys()
    place = f"{KEYS_FILE}={file}"
    try:
        text = Path(file).read_text(encoding="utf-8")
    except OSError as error:
        raise SettingsError(f"{place}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError:
        raise SettingsError(f"{place}: this is no text; {ADVICE}") from None
    return parse_keys(text, place)


def parse_keys(text: str, place: str) -> CodecKeys:
    """Keys from lines or between commas; `#` begins a comment. Raises SettingsError, which names `place` and the entry."""
    entries = list(_entries(text))
    off = entries[:1] == [OFF]
    found: dict[str, bytes] = {}
    for number, entry in enumerate(entries[1:] if off else entries, start=2 if off else 1):
        key_id, key = _key(entry, f"{place}: entry {number}")
        if key_id in found:
            raise SettingsError(f"{place}: entry {number}: the id `{key_id}` is given twice; each key needs its own")
        found[key_id] = key
    if not found:
        raise SettingsError(f"{place}: there is no key in it; {ADVICE}, or leave the setting out")
    return CodecKeys("" if off else next(iter(found)), found)


def _entries(text: str) -> Iterator[str]:
    for line in text.splitlines():
        for entry in line.partition("#")[0].split(","):
            if entry.strip():
                yield entry.strip()


def _key(entry: str, place: str) -> tuple[str, bytes]:
    key_id, colon, text = entry.partition(":")
    if not colon or not ID.fullmatch(key_id.strip()):
        raise SettingsError(f"{place}: no id before a colon (letters, digits, `.`, `_`, `-`, at most 32); {ADVICE}")
    place = f"{place} (`{key_id.strip()}`)"
    try:
        key = base64.b64decode(text.strip().translate(str.maketrans("-_", "+/")), validate=True)
    except (binascii.Error, ValueError):
        raise SettingsError(f"{place}: what follows the colon is no base64; {ADVICE}") from None
    if len(key) != KEY_BYTES:
        raise SettingsError(f"{place}: the key has {len(key)} bytes; {ADVICE}")
    return key_id.strip(), key
