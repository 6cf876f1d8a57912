"""Outputs of other steps in the text of a shell, which must never run what a step has said. Pure.

Each comes as an environment variable, and its place in the text becomes a reference to it: one word, whatever is in the value.
"""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from activities.errors import HandlerError
from activities.steps.step_output import as_text, output_problem
from activities.steps.template import fill, output_value, parts

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    from activities.steps.template import Names, Part

VARIABLE = "TICKWRIGHT_VALUE_{0}"
_SHELLS = frozenset({"sh", "bash", "dash", "ash", "ksh", "zsh"})
_TEXT_FOLLOWS = re.compile(r"-[a-z]*c")
_HEREDOC = re.compile(
    r"""<<-?[ \t]*(?:(?P<mark>['"])(?P<quoted>[^'"\n]+)(?P=mark)|\\(?P<escaped>\w+)|(?P<plain>[A-Za-z_]\w*))"""
)
_QUOTED_HEREDOC = "is in a here-document whose end is quoted, where a shell fills in nothing; remove the quotes"


def shell_places(params: dict[str, Any]) -> frozenset[int]:
    """Which of a command's `argv` are texts that a shell reads: the one of `shell`, or what follows `sh -c`."""
    argv: Sequence[str] = params.get("argv", ())
    if params.get("shell"):
        return frozenset({0})
    return frozenset(
        place + 2
        for place, (program, flag) in enumerate(pairwise(argv))
        if PurePath(program).name in _SHELLS and _TEXT_FOLLOWS.fullmatch(flag) and place + 2 < len(argv)
    )


def shell_problems(text: str, allowed: Collection[str]) -> Iterator[str]:
    """For lint: outputs without `| sh`, and those for which there is no way into the text. What else is wrong `check` says."""
    quoting = Quoting()
    for part in parts(text):
        if part.output_of is None:
            quoting.feed(part.text)
        elif (message := output_problem(part.text, allowed)) is not None:
            yield message
        elif not part.quoted:
            yield (
                f"`{{{part.text}}}` in a shell text would run the output of that step as code; write `{{{part.text} | sh}}`, "
                "which is always one word, or pass it to the command in `env`"
            )
        elif quoting.reference("X") is None:
            yield f"`{{{part.text} | sh}}` {_QUOTED_HEREDOC}"


def render_shell(text: str, names: Names, secret: Callable[[str], str], env: dict[str, str]) -> str:
    """The text with templates and secrets filled in; a value of another step goes into `env`, with or without `| sh`.

    Raises a permanent HandlerError.
    """
    quoting, written = Quoting(), ""
    for part in parts(text):
        if part.output_of is None:
            filled = fill(part, names, secret)
            # A secret or a time is put in as it is: what it does to the quoting is for whoever wrote it.
            quoting.feed(filled)
        else:
            filled = _reference(part, quoting, env, as_text(output_value(part, names)))
        written += filled
    return written


def _reference(part: Part, quoting: Quoting, env: dict[str, str], value: str) -> str:
    variable = VARIABLE.format(len(env) + 1)
    reference = quoting.reference(variable)
    if reference is None:
        raise HandlerError(f"`{{{part.text}}}` {_QUOTED_HEREDOC}", permanent=True)
    env[variable] = value
    return reference


class Quoting:
    """Where in a text a POSIX shell is: within quotes, a comment, a substitution or a here-document.

    Read wrongly, a reference to a variable gives another text than was meant; it never makes the value code.
    """

    def __init__(self) -> None:
        self._open: list[str] = []
        """Quotes and brackets that are open, the innermost last; `#` is a comment."""
        self._announced: list[tuple[str, bool]] = []
        """Ends of the here-documents that begin after this line, and whether their texts are taken as they are."""
        self._document: tuple[str, bool] | None = None
        self._line = ""
        """Of a here-document, the line so far."""
        self._before = "\n"

    def reference(self, variable: str) -> str | None:
        """How the variable's value is put in here, as one word with what is around it; None where that cannot be."""
        self._before = "}"
        if self._document is not None:
            self._line += "}"
            return None if self._document[1] else f"${{{variable}}}"
        match self._open[-1:]:
            case ["'"]:
                return f"'\"${{{variable}}}\"'"
            case ['"'] | ["#"]:
                return f"${{{variable}}}"
        return f'"${{{variable}}}"'

    def feed(self, text: str) -> None:
        """Go on over `text`."""
        at = 0
        while at < len(text):
            at += self._in_document(text[at]) if self._document is not None else self._step(text, at)

    def _in_document(self, char: str) -> int:
        if char != "\n":
            self._line += char
        else:
            if self._document is not None and self._line.lstrip("\t") == self._document[0]:
                self._document = self._announced.pop(0) if self._announced else None
            self._line = ""
        return 1

    def _step(self, text: str, at: int) -> int:
        """Takes one character, or those that belong together; how many."""
        char, inside, before = text[at], self._open[-1] if self._open else "", self._before
        self._before = char
        if inside == "'":
            if char == "'":
                self._open.pop()
        elif char == "\n" and inside != '"':
            self._end_line()
        elif inside == "#":
            pass
        elif char == "\\":
            self._before = "x"
            return 2
        elif text.startswith("$(", at):
            self._open.append("(")
            return 2
        elif char in '`"':
            self._toggle(char)
        elif inside != '"':
            return self._plain(text, at, before)
        return 1

    def _plain(self, text: str, at: int, before: str) -> int:
        char = text[at]
        if char in "'(" or (char == "#" and before in " \t\n;&|("):
            self._open.append(char)
        elif char == ")" and self._open[-1:] == ["("]:
            self._open.pop()
        elif found := _HEREDOC.match(text, at):
            self._announced.append((found["quoted"] or found["escaped"] or found["plain"], not found["plain"]))
            return len(found[0])
        return 1

    def _toggle(self, quote: str) -> None:
        if self._open[-1:] == [quote]:
            self._open.pop()
        else:
            self._open.append(quote)

    def _end_line(self) -> None:
        if self._open[-1:] == ["#"]:
            self._open.pop()
        self._document = self._announced.pop(0) if self._announced else None
        self._line = ""
