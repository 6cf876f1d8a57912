"""What counts as a sentence and as a bullet that is too long; and that no help text has one."""

from __future__ import annotations

import argparse
from importlib import import_module

import pytest

from schedules.__main__ import VERBS
from tests.prose import LONGEST_BULLET, LONGEST_SENTENCE, too_long

SENTENCE = " ".join(["word"] * LONGEST_SENTENCE)
SHORT = "Five words are in it."


@pytest.mark.parametrize(
    "markdown",
    [
        f"{SENTENCE}. {SENTENCE}.",
        f"{SENTENCE}\n\n{SENTENCE}",
        f"{SENTENCE} `code of many words is one`"[5:],
        f"```text\n{SENTENCE} {SENTENCE}\n```\n",
        f"| {SENTENCE} {SENTENCE} |",
        f"- {SHORT}\n" * 30,
    ],
)
def test_what_is_short_or_no_prose_is_fine(markdown: str) -> None:
    assert list(too_long(markdown)) == []


def test_a_sentence_is_counted_over_its_lines() -> None:
    assert [each.words for each in too_long(f"{SHORT} {SENTENCE}\nmore. {SHORT}")] == [LONGEST_SENTENCE + 1]


def test_a_bullet_is_counted_with_all_its_sentences() -> None:
    bullet = f"{SHORT} " * (LONGEST_BULLET // 5) + "Then one."

    assert [each.words for each in too_long(f"- {bullet}\n- {SHORT}")] == [LONGEST_BULLET + 2]


@pytest.mark.parametrize("verb", VERBS)
def test_every_sentence_of_a_help_text_can_be_read_once(verb: str) -> None:
    summary, module = VERBS[verb]
    parser = argparse.ArgumentParser()
    import_module(module).configure(parser)
    helps = [action.help for action in parser._actions]

    assert [
        found for text in (summary, parser.description, parser.epilog, *helps) for found in too_long(text or "")
    ] == []
