"""SQL as text: its statements, and the parameters `:name` in them. What stands in quotes and comments is left alone. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_TOKEN = re.compile(
    r"""
    (?P<comment> --[^\n]* | /\*.*?(?:\*/|\Z) )
  | (?P<quoted> \$(?P<tag>[A-Za-z_]\w*|)\$ .*? (?:\$(?P=tag)\$|\Z)
      | [eE]'(?:[^'\\]|\\.|'')*(?:'|\Z) | '(?:[^']|'')*(?:'|\Z) | "(?:[^"]|"")*(?:"|\Z) | `[^`]*(?:`|\Z) )
  | (?P<operator> :: | := )
  | :(?P<parameter>[A-Za-z_]\w*)
  | (?P<word> [A-Za-z_][\w$]* )
  | (?P<semicolon> ; )
  | (?P<space> \s+ )
  | (?P<other> . )
    """,
    re.VERBOSE | re.DOTALL,
)
_UNSEEN = frozenset({"comment", "space"})
_READING = frozenset({"SELECT", "VALUES", "TABLE", "WITH", "SHOW", "EXPLAIN"})
_WRITING = frozenset({"INSERT", "UPDATE", "DELETE", "MERGE", "INTO", "REPLACE", "ANALYZE"})
_WITH_BODIES = frozenset({"FUNCTION", "PROCEDURE", "TRIGGER"})
_BEFORE_BODIES = 5
"""Words that may stand before them: CREATE OR REPLACE CONSTRAINT TRIGGER."""
SHOWN = 60


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of SQL with the number of its line, from 1; the text of a parameter is its name."""

    kind: str
    text: str
    line: int


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement, without the semicolon at its end."""

    tokens: tuple[Token, ...]

    @property
    def line(self) -> int:
        """Of its first word."""
        return next(token.line for token in self.tokens if token.kind not in _UNSEEN)

    @property
    def words(self) -> list[str]:
        """Those outside of quotes and comments, in capitals."""
        return [token.text.upper() for token in self.tokens if token.kind == "word"]

    @property
    def parameters(self) -> list[str]:
        """The names of its parameters, each once, in the order of their first places."""
        return list(dict.fromkeys(token.text for token in self.tokens if token.kind == "parameter"))

    @property
    def looks_like_query(self) -> bool:
        """Whether it seems to write nothing; a function that it calls may."""
        words = self.words
        return bool(words) and words[0] in _READING and _WRITING.isdisjoint(words)

    @property
    def title(self) -> str:
        """Its first words, for people; a parameter is shown by its name."""
        seen = (f":{one.text}" if one.kind == "parameter" else one.text for one in self.tokens if one.kind != "comment")
        text = " ".join("".join(seen).split())
        return text if len(text) <= SHOWN else f"{text[:SHOWN]}…"

    def with_places(self, prefix: str) -> str:
        """The text with `prefix` and a number, from 1, in the place of each parameter, in the order of `parameters`."""
        places = {name: f"{prefix}{number}" for number, name in enumerate(self.parameters, 1)}
        return "".join(places[token.text] if token.kind == "parameter" else token.text for token in self.tokens)


def statements(text: str) -> list[Statement]:
    """The statements of a script, in order; a semicolon in the body of a function or trigger ends none."""
    found: list[Statement] = []
    tokens: list[Token] = []
    depth = 0
    for token in _tokens(text):
        if token.kind == "semicolon" and depth == 0:
            found += _statement(tokens)
            tokens = []
            continue
        tokens.append(token)
        if token.kind == "word":
            depth = _depth(depth, token.text.upper(), tokens)
    return [*found, *_statement(tokens)]


def _statement(tokens: Sequence[Token]) -> list[Statement]:
    """One, or none where there are only comments."""
    return [Statement(tuple(tokens))] if any(token.kind not in _UNSEEN for token in tokens) else []


def _depth(depth: int, word: str, tokens: Sequence[Token]) -> int:
    """How many bodies are open behind the word: `BEGIN` opens one in CREATE FUNCTION and its like, `CASE` one in such a body."""
    if word == "END":
        return max(depth - 1, 0)
    if depth:
        return depth + (word in {"BEGIN", "CASE"})
    return int(word == "BEGIN" and _may_have_body(tokens))


def _may_have_body(tokens: Sequence[Token]) -> bool:
    words = [token.text.upper() for token in tokens if token.kind == "word"][:_BEFORE_BODIES]
    return words[:1] == ["CREATE"] and not _WITH_BODIES.isdisjoint(words)


def quoted_texts(text: str) -> Iterator[str]:
    """What stands in quotes, with them."""
    return (token.text for token in _tokens(text) if token.kind == "quoted")


def _tokens(text: str) -> Iterator[Token]:
    line = 1
    for match in _TOKEN.finditer(text):
        kind = "quoted" if match.lastgroup == "tag" else str(match.lastgroup)
        yield Token(kind, match["parameter"] or match[0], line)
        line += match[0].count("\n")
