"""Texts and values that a spec names by their files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from schedules.source.compose import compose
from schedules.source.construct import Constructor
from schedules.source.malformed import Malformed
from schedules.text.shown import shown

LARGEST = 1_000_000
"""Bytes."""


def reader_beside(spec: str) -> Callable[[str], str]:
    """Reads the text of a file by its path from the spec file's folder; it raises ValueError that says why it cannot."""
    folder = Path(spec).parent

    def read(name: str) -> str:
        path = folder / name
        try:
            with path.open("rb") as file:
                data = file.read(LARGEST + 1)
        except FileNotFoundError:
            raise ValueError(
                f"there is no file {shown(str(path))}; write its path from the folder of this spec"
            ) from None
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or error
            raise ValueError(f"{shown(str(path))} cannot be read: {why}") from None
        if len(data) > LARGEST:
            raise ValueError(
                f"{shown(str(path))} is larger than {LARGEST // 1_000_000} MB; a `command` step may run it with psql"
            )
        try:
            return data.decode("utf-8-sig")
        except UnicodeDecodeError:
            raise ValueError(f"{shown(str(path))} is not UTF-8; save it as UTF-8") from None

    return read


def value_reader(read: Callable[[str], str]) -> Callable[[str], object]:
    """Reads the mapping of a YAML or JSON file, whose text `read` gives; it raises ValueError that says why it cannot."""

    def value(name: str) -> object:
        try:
            return Constructor().value(compose(read(name)))
        except Malformed as error:
            raise ValueError(f"{name}, line {error.line + 1}: {error}") from None

    return value
