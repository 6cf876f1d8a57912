"""The files that a path stands for, what else a folder holds, and what there keeps a sync from seeing all that was meant."""

from __future__ import annotations

import os
import re
import stat
from dataclasses import dataclass, field
from pathlib import Path

from schedules.text.nearest import nearest

SUFFIXES = frozenset({".yaml", ".yml", ".json"})
TEXTS = frozenset({".sql"})
"""Files that specs name, and that hold no jobs."""
MOST_ENTRIES = 100_000
_WORDS = sorted(suffix[1:] for suffix in SUFFIXES)
_OTHER_FORMATS = frozenset({"geojson", "jsonl", "jsonnet", "ndjson"})
_COPY = re.compile(r"(?P<name>.*\.\w+)(~.*|\.(bak|backup|old|orig|new|save|swp|tmp|temp|part|txt|\d+))", re.IGNORECASE)
_IGNORED = (".", "lost+found")
_OF_VOLUMES = ("..", "lost+found")
"""Begin the names that a volume has without any file of the user's."""


@dataclass
class Listing:
    """`files` are the specs in the order of their names; `faults` are paths with a message; `left_out` is not read."""

    files: list[Path] = field(default_factory=list)
    left_out: list[Path] = field(default_factory=list)
    faults: list[tuple[Path, str]] = field(default_factory=list)


def list_specs(path: Path) -> Listing:
    """The file itself, or what is below a folder; names that start with a dot do not count.

    Links are followed, each folder once.
    """
    if not os.path.isdir(path):  # noqa: PTH112  a path that cannot be looked at is told by who reads it
        return Listing([path])
    listing = Listing()
    _Walk(listing).walk(path)
    if not (listing.files or listing.faults):
        listing.faults.append((path, "holds no .yaml, .yml or .json file; write the path of your specs"))
    return listing


def would_be_read(file: Path, path: Path) -> bool:
    """Whether a file, be it there yet or not, is one that `path` stands for."""
    real, root = file.resolve(), path.resolve()
    if root not in real.parents:
        return real == root
    hidden = any(part.startswith(".") for part in real.relative_to(root).parts)
    return real.suffix in SUFFIXES and not hidden


class _Walk:
    """One walk through a folder, without recursion: folders may be nested a thousand deep."""

    def __init__(self, listing: Listing) -> None:
        self._listing = listing
        self._seen: set[tuple[int, int]] = set()
        self._waiting: list[Path] = []
        self._counted = 0

    def walk(self, root: Path) -> None:
        self._open(root, is_root=True)
        while self._waiting:
            self._take(self._waiting.pop())

    def _open(self, folder: Path, *, is_root: bool = False) -> None:
        try:
            found = folder.stat()
            if (found.st_dev, found.st_ino) in self._seen:
                return
            self._seen.add((found.st_dev, found.st_ino))
            names = os.listdir(folder)  # noqa: PTH208  sorted as text below
        except OSError as error:
            self._fault(folder, f"cannot be read: {error.strerror}")
            return
        visible = sorted((folder / name for name in names if not name.startswith(_IGNORED)), reverse=True)
        if not is_root:
            self._check_folder(folder, names)
        self._counted += len(visible)
        if self._counted > MOST_ENTRIES:
            self._fault(folder, f"makes more than {MOST_ENTRIES:,} files; write the folder of your specs alone")
            self._waiting.clear()
        else:
            self._waiting += visible

    def _check_folder(self, folder: Path, names: list[str]) -> None:
        """A mount without its volume and a submodule without its checkout are empty folders."""
        if all(name.startswith(_OF_VOLUMES) for name in names):
            advice = "if specs belong here, mount the volume or check out the submodule, else remove the folder"
            self._fault(folder, f"is an empty folder; {advice}")
        elif folder.suffix in SUFFIXES and not any(Path(name).suffix in SUFFIXES for name in names):
            self._fault(folder, "is a folder without specs, and has the name of a spec file; write or mount the file")

    def _take(self, entry: Path) -> None:
        try:
            mode = entry.stat().st_mode
        except OSError as error:
            nowhere = entry.is_symlink() and not isinstance(error, PermissionError)
            reason = (
                f"is a link that leads nowhere ({error.strerror})" if nowhere else f"cannot be read: {error.strerror}"
            )
            self._fault(entry, f"{reason}; mend it, or remove it")
            return
        if stat.S_ISDIR(mode):
            self._open(entry)
        elif not stat.S_ISREG(mode):
            self._take_other(entry)
        elif entry.suffix in SUFFIXES:
            self._listing.files.append(entry)
        elif name := _meant_name(entry):
            self._fault(
                entry, f"looks like a spec file and is not read, by its name; call it {name}, or put it elsewhere"
            )
        elif entry.suffix not in TEXTS:
            self._listing.left_out.append(entry)

    def _take_other(self, entry: Path) -> None:
        """A pipe, a socket or a device."""
        if entry.suffix in SUFFIXES or _meant_name(entry):
            self._fault(entry, "is no file that can be read as a spec (a pipe, a socket or a device); remove it")
        else:
            self._listing.left_out.append(entry)

    def _fault(self, path: Path, message: str) -> None:
        self._listing.faults.append((path, message))


def _meant_name(entry: Path) -> str:
    """The name of the spec file that an entry was probably meant to be; empty for none, and for a copy beside its original."""
    name = entry.name.strip().strip("#")
    if copy := _COPY.fullmatch(name):
        name = copy["name"]
    stem, _, suffix = name.rpartition(".")
    close = nearest(suffix, _WORDS) if stem and suffix.lower() not in _OTHER_FORMATS else []
    if not close:
        return ""
    other_case = name == entry.name and suffix.lower() in _WORDS
    has_original = any((entry.parent / f"{stem}{known}").exists() for known in SUFFIXES)
    return "" if has_original and not other_case else f"{stem}.{close[0]}"
