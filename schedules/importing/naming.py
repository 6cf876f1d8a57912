"""Names of imported jobs: from what they run, ASCII, unique, and the same when lines move. Pure."""

from __future__ import annotations

import hashlib
import re
import shlex
import unicodedata
from collections.abc import Iterable, Sequence
from pathlib import PurePosixPath
from typing import Final

from schedules.importing.old_job import OldJob

LONGEST: Final = 50
MOST_WORDS: Final = 3
PREFIXES: Final = frozenset(
    {"sudo", "nice", "ionice", "flock", "timeout", "env", "exec", "nohup", "setsid", "chronic", "time"}
)
INTERPRETERS: Final = frozenset({"sh", "bash", "python", "python3", "php", "perl", "ruby", "node", "java"})
_WORD: Final = re.compile(r"[a-z0-9]+")


def named(jobs: Sequence[OldJob]) -> dict[str, OldJob]:
    """Each job under its new name, in the order given.

    A name is made of the job's most telling words. Jobs with the same words get a hash of their schedule and command behind it;
    where these are the same too, a number.
    """
    wanted = [_name(job) for job in jobs]
    found: dict[str, OldJob] = {}
    for job, name in zip(jobs, wanted, strict=True):
        base = name if wanted.count(name) == 1 else f"{name[: LONGEST - 7]}-{_hash(job)}"
        unique, number = base, 2
        while unique in found:
            unique, number = f"{base}-{number}", number + 1
        found[unique] = job
    return found


def _name(job: OldJob) -> str:
    words = [slug for word in job.naming if (slug := ascii_slug(word))] or ["job"]
    return "-".join(words[:MOST_WORDS])[:LONGEST].strip("-")


def _hash(job: OldJob) -> str:
    meaning = repr((job.job.get("schedule"), job.job.get("run"), job.job.get("steps"), job.name))
    return hashlib.sha256(meaning.encode()).hexdigest()[:6]


def ascii_slug(text: str) -> str:
    """Lower-case ASCII letters and digits with `-` between words; accents are taken off, and other letters are left out."""
    return "-".join(_WORD.findall(unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()))


def command_words(command: str) -> list[str]:
    """The words of a shell command that tell what it does: its program and the arguments that are no options, wrappers left out."""
    try:
        words = shlex.split(command, comments=False)
    except ValueError:
        words = command.split()
    parts = list(_segments(words))
    telling = next((part for part in parts if part and not _is_preparation(part)), parts[0] if parts else [])
    return [_program(word) for word in _without_wrappers(telling) if not word.startswith(("-", "$", ">", "<", "2>"))][
        :6
    ]


def _segments(words: Iterable[str]) -> Iterable[list[str]]:
    current: list[str] = []
    for word in words:
        if word in {"&&", "||", ";", "|"}:
            yield current
            current = []
        else:
            current.append(word)
    yield current


def _is_preparation(words: Sequence[str]) -> bool:
    return words[0] in {"cd", "sleep", "test", "[", "export", "set", ".", "source", "umask"}


def _without_wrappers(words: Sequence[str]) -> Sequence[str]:
    """Leaves out `flock -n LOCK`, `timeout 45m`, `nice -n 10`, `VAR=value` and interpreters in front of a program."""
    rest = list(words)
    while len(rest) > 1:
        first = PurePosixPath(rest[0]).name
        if re.fullmatch(r"\w+=.*", rest[0]) or first in INTERPRETERS:
            rest = rest[1:]
        elif first in PREFIXES:
            rest = rest[1:]
            while len(rest) > 1 and (rest[0].startswith("-") or rest[0].isdecimal()):
                rest = rest[1:]
            if first in {"flock", "timeout"} and len(rest) > 1:
                rest = rest[1:]
        else:
            break
    return rest


def _program(word: str) -> str:
    path = PurePosixPath(word)
    return path.stem if "/" in word or path.suffix in {".sh", ".py", ".php", ".rb", ".pl"} else word
