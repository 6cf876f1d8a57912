"""Texts that a spec names by their files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

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
