"""Which files a path stands for."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

SUFFIXES = frozenset({".yaml", ".yml", ".json"})


def spec_files(path: Path) -> Iterator[Path]:
    """The file itself, or the spec files below a directory in the order of their names; hidden ones do not count.

    Links are followed, each directory once. Raises OSError.
    """
    return _below(path, set()) if path.is_dir() else iter([path])


def would_be_read(file: Path, path: Path) -> bool:
    """Whether a file, be it there yet or not, is one that `path` stands for."""
    real, root = file.resolve(), path.resolve()
    if root not in real.parents:
        return real == root
    hidden = any(part.startswith(".") for part in real.relative_to(root).parts)
    return real.suffix in SUFFIXES and not hidden


def _below(directory: Path, seen: set[Path]) -> Iterator[Path]:
    if (real := directory.resolve()) in seen:
        return
    seen.add(real)
    for entry in sorted(directory.iterdir()):
        if entry.name.startswith("."):
            continue
        if entry.is_dir():
            yield from _below(entry, seen)
        elif entry.suffix in SUFFIXES and entry.is_file():
            yield entry
