"""One spec file that could be read: its data, and the places in it."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from schedules.source.compose import compose
from schedules.source.construct import Constructor
from schedules.source.json_text import as_yaml, check_json, is_json
from schedules.source.malformed import Malformed, not_text
from schedules.source.positions import Positions
from schedules.text.shown import printable

LARGEST = 8_000_000
_CONFLICT_BEGIN, _CONFLICT_END = (re.compile(mark + rb"(?: |\r?$)", re.MULTILINE) for mark in (rb"^<{7}", rb"^>{7}"))
_PATTERN = re.compile(r"[*?\[]")
_STREAM = re.compile(r"/dev/stdin|/dev/fd/\d+|/proc/(self|\d+)/fd/\d+")


@dataclass(frozen=True)
class Document:
    """A file's data as plain dicts, lists and scalars, and where each value stands."""

    file: str
    data: dict[str, Any]
    positions: Positions

    def section(self, *path: str) -> dict[str, Any]:
        """The mapping at a path, empty where there is none or something else."""
        value: Any = self.data
        for key in path:
            value = value.get(key) if isinstance(value, dict) else None
        return value if isinstance(value, dict) else {}


def read_document(file: str) -> Document:
    """The YAML or JSON file. Raises Malformed."""
    text = _decode(_read(file))
    json_text = file.endswith(".json") or (is_stream(file) and is_json(text))
    root = compose(as_yaml(text) if json_text else text)
    if json_text:
        check_json(text, root)
    document = Document(file, Constructor().value(root), Positions(file, root))
    if "apiVersion" in document.data:
        raise _manifest(document)
    return document


def _manifest(document: Document) -> Malformed:
    """A folder of a deployment holds manifests of Kubernetes, whose keys look like ours."""
    place, kind = document.positions.of_key(("apiVersion",)), document.data.get("kind")
    what = f" (kind: {printable(kind)[:60]})" if isinstance(kind, str) else ""
    advice = "put it elsewhere, and write jobs with `version: 1`, `project:` and `jobs:`"
    return Malformed(place.line - 1, place.column - 1, f"is a manifest of Kubernetes{what}, and no spec; {advice}")


def is_stream(file: str) -> bool:
    """Whether a path is standard input, or a pipe that a shell made (`<(…)`): what can be read once."""
    return file == "-" or bool(_STREAM.fullmatch(file))


@cache
def _stream(file: str) -> bytes:
    """As far as a spec file may go. Raises OSError."""
    with open(0 if file == "-" else file, "rb", closefd=file != "-") as stream:
        return stream.read(LARGEST + 1)


def _contents(file: str) -> bytes:
    if is_stream(file):
        return _stream(file)
    with Path(file).open("rb") as stream:
        return stream.read(LARGEST + 1)


def _read(file: str) -> bytes:
    path = Path(file)
    try:
        if path.exists() and not (path.is_file() or is_stream(file)):
            raise Malformed(-1, -1, "is neither a file nor a directory; write the path of your specs")
        data = _contents(file)
    except FileNotFoundError:
        advice = "the path of your specs" + (", or of their folder, without a pattern" if _PATTERN.search(file) else "")
        raise Malformed(-1, -1, f"there is no such file or directory; write {advice}") from None
    except OSError as error:
        raise Malformed(-1, -1, f"cannot be read: {error.strerror}") from None
    if len(data) > LARGEST:
        raise Malformed(-1, -1, f"is larger than {LARGEST // 1_000_000} MB; split it into several files")
    if (conflict := _CONFLICT_BEGIN.search(data)) and _CONFLICT_END.search(data, conflict.end()):
        raise not_text(data, conflict.start(), "holds a conflict of a merge (`<<<<<<<`); finish the merge")
    return data.removeprefix(codecs.BOM_UTF8)


def _decode(data: bytes) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        reason = f"the byte 0x{data[error.start]:02X} is not UTF-8; save the file as UTF-8"
        raise not_text(data, error.start, reason) from None
