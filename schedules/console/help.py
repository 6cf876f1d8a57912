"""Help texts of several lines, within the terminal's width."""

from __future__ import annotations

import argparse
import textwrap


class LinesFormatter(argparse.HelpFormatter):
    """Keeps the lines of descriptions and epilogs; a longer one is wrapped."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return "\n".join(_wrapped(indent + line, width) for line in text.splitlines())


def _wrapped(line: str, width: int) -> str:
    """A name with its meaning beside it, as lists have them, gets a line for each of the two where one is too short."""
    if len(line) <= width:
        return line
    begin = line[: len(line) - len(line.lstrip(" "))]
    more = f"{begin}    " if begin else ""
    name, gap, meaning = line.strip().partition("  ")
    if begin and gap:
        return f"{begin}{name}\n{_filled(more + meaning.lstrip(), width, more)}"
    return _filled(line, width, more)


def _filled(line: str, width: int, more: str) -> str:
    return textwrap.fill(line, width, subsequent_indent=more, break_long_words=False, break_on_hyphens=False)
