"""One spec file that could be read: its data, and the places in it."""

from __future__ import annotations

import codecs
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from schedules.source.compose import compose
from schedules.source.construct import Constructor
from schedules.source.json_text import as_yaml
from schedules.source.malformed import Malformed, not_text
from schedules.source.positions import Positions

LARGEST = 8_000_000


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
    root = compose(as_yaml(text) if file.endswith(".json") else text)
    return Document(file, Constructor().value(root), Positions(file, root))


def _read(file: str) -> bytes:
    path = Path(file)
    try:
        if path.exists() and not path.is_file():
            raise Malformed(-1, -1, "is neither a file nor a directory; write the path of your specs")
        with path.open("rb") as stream:
            data = stream.read(LARGEST + 1)
    except FileNotFoundError:
        raise Malformed(-1, -1, "there is no such file or directory; write the path of your specs") from None
    except OSError as error:
        raise Malformed(-1, -1, f"cannot be read: {error.strerror}") from None
    if len(data) > LARGEST:
        raise Malformed(-1, -1, f"is larger than {LARGEST // 1_000_000} MB; split it into several files")
    return data.removeprefix(codecs.BOM_UTF8)


def _decode(data: bytes) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        reason = f"the byte 0x{data[error.start]:02X} is not UTF-8; save the file as UTF-8"
        raise not_text(data, error.start, reason) from None
