"""The files of a call at one moment: a folder that is being replaced shows a job in no file, or in two."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from schedules.source.document import is_stream
from schedules.source.files import list_specs

Signature = tuple[str, tuple[int, int, int] | None]


class Snapshot:
    """By path its files, each with the first path that reaches it, and the faults; equal while nothing of it has changed."""

    def __init__(self, paths: Sequence[str]) -> None:
        self.files: dict[str, list[str]] = {}
        self.faults: dict[str, list[tuple[str, str]]] = {}
        self.left_out: list[str] = []
        self._signatures: dict[str, Signature] = {}
        seen: set[str] = set()
        for path in dict.fromkeys(paths):
            self._look(path, seen)

    def __eq__(self, other: object) -> bool:
        """Whether the same files were there, with the same contents as far as their metadata tells."""
        return isinstance(other, Snapshot) and (self._signatures, self.faults) == (other._signatures, other.faults)

    __hash__ = None  # type: ignore[assignment]  # a snapshot is compared, and no key

    def _look(self, path: str, seen: set[str]) -> None:
        self.files[path] = []
        if not path:
            self.faults[path] = [("PATH", 'is "", perhaps a variable that is not set; write the path of your specs')]
            return
        if is_stream(path):
            self.faults[path], self.files[path] = [], [path]
            return
        listing = list_specs(Path(path))
        self.faults[path] = [(str(place), message) for place, message in listing.faults]
        self.left_out += map(str, listing.left_out)
        for file in map(_named, listing.files):
            signature = _signature(file)
            self._signatures[file] = signature
            if signature[0] not in seen:
                seen.add(signature[0])
                self.files[path].append(file)


def _named(file: Path) -> str:
    """The path as text; `./-` is a file, and `-` is none."""
    return f"./{file}" if is_stream(str(file)) else str(file)


def _signature(file: str) -> Signature:
    real = os.path.realpath(file)
    try:
        found = Path(real).stat()
    except OSError:
        return real, None
    return real, (found.st_ino, found.st_size, found.st_mtime_ns)
