"""Near misses: what a mistyped word was probably meant to be."""

from __future__ import annotations

from collections.abc import Iterable

from schedules.text.shown import some_of

_ALIKE = 0.7
_AS_GOOD_AS_THE_BEST = 0.05
_MOST = 3
_MOST_LISTED = 20
_OPPOSITES = (
    ("in", "ex"),
    ("min", "max"),
    ("un", ""),
    ("non", ""),
    ("no_", ""),
    ("not_", ""),
    ("dis", "en"),
    ("start", "end"),
    ("first", "last"),
    ("before", "after"),
    ("success", "failure"),
    ("next", "previous"),
)


def nearest(word: str, known: Iterable[str]) -> list[str]:
    """The known words that look most like the given one, three at most; letter case does not count.

    None that says the opposite: `include` looks like `exclude`.
    """
    from difflib import SequenceMatcher

    folded = SequenceMatcher(None, b=word.casefold())
    ratios: list[tuple[float, str]] = []
    for candidate in known:
        if _opposite(word.casefold(), candidate.casefold()):
            continue
        folded.set_seq1(candidate.casefold())
        if folded.quick_ratio() >= _ALIKE and (ratio := folded.ratio()) >= _ALIKE:
            ratios.append((ratio, candidate))
    ratios.sort(key=lambda pair: -pair[0])
    return [candidate for ratio, candidate in ratios[:_MOST] if ratio >= ratios[0][0] - _AS_GOOD_AS_THE_BEST]


def _opposite(one: str, other: str) -> bool:
    """Whether two words are the same but for a part that turns the meaning round."""
    return one != other and any(_turned(one, *pair) == other or _turned(other, *pair) == one for pair in _OPPOSITES)


def _turned(word: str, part: str, instead: str) -> str:
    """The word with the opposite of one of its parts; a prefix without an opposite is taken off its beginning alone."""
    if not instead:
        return word.removeprefix(part)
    return word.replace(part, instead, 1)


def suggestion(word: str, known: Iterable[str], what: str) -> str:
    """Advice that ends a message: `did you mean …?`, or else every known word."""
    words = list(known)
    if close := nearest(word, words):
        return f"did you mean {' or '.join(f'`{match}`' for match in close)}?"
    if not words:
        return f"there are no {what}"
    return f"known {what}: {some_of(words, _MOST_LISTED)}"
