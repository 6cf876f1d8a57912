"""The beginning and the end of a command: one message for each fault, and always the exit code that it means."""

from __future__ import annotations

import argparse
import io
import json
import os
import signal
import sys
import textwrap
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Literal, NoReturn

from schedules.console.markdown import error_markdown
from schedules.errors import OutputError, TickwrightError
from schedules.text.shown import printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from types import FrameType

    from _typeshed import ReadableBuffer

DOCUMENTS = frozenset({"json", "markdown"})
"""Values of --output for which standard output is one document and nothing else."""


class Stdout:
    """Standard output, where a program may read one document: all else that is written to it goes to standard error."""

    def __init__(self) -> None:
        self._kept = 1
        self._kind = ""

    def keep_for(self, kind: str) -> None:
        """From now on only `answer` writes there: a user's module may print, and so may the SDK's core."""
        sys.stdout.flush()
        self._kept = os.dup(1)
        os.dup2(2, 1)
        self._kind = kind

    def answer(self, text: str) -> None:
        """The document. Raises OutputError."""
        data = memoryview(text.encode())
        try:
            while data:
                data = data[os.write(self._kept, data) :]
        except OSError as error:
            raise OutputError(error) from error

    def answer_error(self, message: str) -> None:
        """In place of the document that was asked for, what went wrong."""
        if self._kind == "json":
            self.answer(json.dumps({"error": message}, indent=2) + "\n")
        elif self._kind == "markdown":
            self.answer(error_markdown(message))


class Stderr:
    """Standard error, where people are told: one that takes nothing stops no command that is at work."""

    def __init__(self) -> None:
        self.lost = False

    def write(self, text: str) -> None:
        """Notes where it cannot be written."""
        try:
            sys.stderr.write(text)
            sys.stderr.flush()
        except OSError:
            self.lost = True


STDOUT, STDERR = Stdout(), Stderr()


def run(parser: argparse.ArgumentParser, arguments: Sequence[str] | None = None) -> NoReturn:
    """Parses, executes and ends the process.

    The process ends at once and not by way of the interpreter's own clean-up: with a Temporal client in it, that aborts
    now and then (exit code 134) although all the work is done.
    """
    _open_closed()
    _guard_stdout()
    words = sys.argv[1:] if arguments is None else arguments
    try:
        code = _execute(parser, words)
        sys.stdout.flush()
    except OutputError as error:
        say(str(error))
        code = error.exit_code
    leave(code)


def _execute(parser: argparse.ArgumentParser, words: Sequence[str]) -> int:
    """The exit code; what went wrong has been told. Raises OutputError."""
    if kind := _document_asked_for(words):
        STDOUT.keep_for(kind)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _interrupted)
    try:
        options = parser.parse_args(words)
        code: int = options.execute(options)
    except OutputError:
        raise
    except TickwrightError as error:
        say(str(error))
        code = error.exit_code
        STDOUT.answer_error(str(error))
    except SystemExit as stopped:
        code = stopped.code if isinstance(stopped.code, int) else 1
        if code:
            STDOUT.answer_error("the command line is wrong; see standard error")
    except Exception as error:  # noqa: BLE001 - a fault of ours: shown whole, and still the exit code that it means
        import traceback

        with suppress(OSError):
            traceback.print_exc()
        code = 1
        STDOUT.answer_error(f"{type(error).__name__}: {error}")
    return code


class _Output(io.FileIO):
    """Standard output, whose errors are told apart from those of files and sockets."""

    def write(self, data: ReadableBuffer) -> int:
        """Raises OutputError."""
        try:
            return super().write(data)
        except OSError as error:
            raise OutputError(error) from error


def _guard_stdout() -> None:
    """What a command prints ends in OutputError where it cannot be written; no character in it stops the command."""
    old = sys.stdout
    assert isinstance(old, io.TextIOWrapper)  # noqa: S101  nobody has replaced it yet
    output = io.BufferedWriter(_Output(1, "w", closefd=False))
    sys.stdout = io.TextIOWrapper(
        output, old.encoding, "backslashreplace", line_buffering=old.line_buffering, write_through=old.write_through
    )


def _open_closed() -> None:
    """Where a standard stream was closed (`>&-`), its number is taken: a socket opened later must not get it.

    What is written to standard output fails then, as it did before; messages on standard error are not missed.
    """
    for number, name, mode in ((0, "stdin", os.O_RDONLY), (1, "stdout", os.O_RDONLY), (2, "stderr", os.O_WRONLY)):
        if getattr(sys, name) is None:
            nowhere = os.open(os.devnull, mode)
            if nowhere != number:
                os.dup2(nowhere, number)
                os.close(nowhere)
            setattr(sys, name, os.fdopen(number, "r" if number == 0 else "w", closefd=False))


def _document_asked_for(words: Sequence[str]) -> str | None:
    """`json` or `markdown`, found before the command line is known to be right; options may be shortened.

    What stands behind `--` is another command's.
    """
    words = words[: words.index("--")] if "--" in words else words
    for word, following in pairwise([*words, ""]):
        option, equals, value = word.partition("=")
        if option.startswith("--o") and "--output".startswith(option) and (value if equals else following) in DOCUMENTS:
            return value if equals else following
    return None


def leave(code: int) -> NoReturn:
    """Writes out what is still in a buffer and ends the process; a message that nobody could be told is exit code 1."""
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except (OSError, OutputError):
        STDERR.lost = True
    os._exit(code or int(STDERR.lost))


def say(text: str) -> None:
    """One message for a person; of what others wrote no character moves the cursor or turns the text round.

    A standard error that takes nothing stops no command: `leave` tells it by the exit code.
    """
    STDERR.write(_plain(text) + "\n")


def _plain(text: str) -> str:
    return "\n".join(map(printable, text.split("\n")))


COLOURS = {"create": "green", "update": "yellow", "delete": "red", "warning": "bold yellow", "detail": "dim"}


def say_lines(lines: Iterable[Line]) -> None:
    """Lines for a person, in colour on a terminal."""
    if not sys.stderr.isatty():
        for line in lines:
            say(line.text)
        return
    from rich.console import Console
    from rich.text import Text

    console = Console(stderr=True)
    for line in lines:
        with console.capture() as captured:
            text = wrapped(_plain(line.text), console.width)
            console.print(Text(text, style=COLOURS.get(line.tone, "")), soft_wrap=True)
        STDERR.write(captured.get())


def wrapped(text: str, width: int) -> str:
    """Lines between words, each further one indented under the first; a longer word stays whole."""
    indent = len(text) - len(text.lstrip(" ")) + 2
    return "\n".join(
        textwrap.wrap(text, width, subsequent_indent=" " * indent, break_long_words=False, break_on_hyphens=False)
    )


def _interrupted(number: int, _frame: FrameType | None) -> None:
    """Before a command has begun to write: nothing is lost by leaving at once."""
    message = "interrupted; nothing was changed"
    try:
        os.write(2, f"{message}\n".encode())
        STDOUT.answer_error(message)
    finally:  # Nobody may read it any more, or it came in the middle of an import: the exit code is the same.
        os._exit(128 + number)


Tone = Literal["create", "update", "delete", "warning", "detail", "plain"]


@dataclass(frozen=True, slots=True)
class Line:
    """One line of text, and what it is about, for its colour."""

    text: str
    tone: Tone = "plain"
