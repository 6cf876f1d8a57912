"""Sentences and bullets of Markdown pages, and those of them that are too long to be read once."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

LONGEST_SENTENCE, LONGEST_BULLET = 35, 60
_FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
_GENERATED = re.compile(r"<!-- (?P<name>[\w ]+): begin -->.*?<!-- (?P=name): end -->", re.DOTALL)
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_CODE = re.compile(r"`[^`]*`")
_BULLET = re.compile(r"^\s*(?:[-*]|\d+\.) ")
_SENTENCE_END = re.compile(r"(?<=[.!?])\)?\**\s+")
_WORD = re.compile(r"\w[\w'/-]*")


class TooLong(NamedTuple):
    """A sentence or a bullet, its number of words, and the number allowed."""

    text: str
    words: int
    allowed: int


def too_long(markdown: str) -> Iterator[TooLong]:
    """All that has more words than allowed. Code blocks, tables and generated parts are left out; code in a line is one word."""
    for paragraph in _paragraphs(markdown):
        bullet = _BULLET.match(paragraph)
        plain = _CODE.sub("code", _LINK.sub(r"\1", paragraph))
        parts = [(plain, LONGEST_BULLET)] if bullet else []
        for text, allowed in [*parts, *((sentence, LONGEST_SENTENCE) for sentence in _SENTENCE_END.split(plain))]:
            if (count := len(_WORD.findall(text))) > allowed:
                yield TooLong(text, count, allowed)


def _paragraphs(markdown: str) -> Iterator[str]:
    """Paragraphs and bullets, each as one line."""
    lines: list[str] = []
    for line in [*_FENCED.sub("", _GENERATED.sub("", markdown)).splitlines(), ""]:
        ends = not line.strip() or line.startswith(("#", "|", "<")) or _BULLET.match(line)
        if ends and lines:
            yield " ".join(lines)
            lines = []
        if line.strip() and not line.startswith(("#", "|", "<")):
            lines.append(line.strip())
