"""Spans of time as sorted lists of (start, end) in seconds of Unix time, and the little arithmetic that they need."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

Span = tuple[float, float]


def merged(spans: Iterable[Span]) -> list[Span]:
    """Their union: overlapping and touching ones are one."""
    found: list[Span] = []
    for start, end in sorted(span for span in spans if span[0] < span[1]):
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(found[-1][1], end))
        else:
            found.append((start, end))
    return found


def common(first: Iterable[Span], second: Iterable[Span]) -> list[Span]:
    """What lies in both."""
    others = list(second)
    return merged((max(a, c), min(b, d)) for a, b in first for c, d in others)


def complement(spans: Iterable[Span], start: float, end: float) -> list[Span]:
    """What of start to end lies in none of them."""
    found, at = [], start
    for first, last in merged(spans):
        found.append((at, min(first, end)))
        at = max(at, last)
    return merged([*found, (at, end)])


def around(spans: Iterable[Span], at: float) -> Span | None:
    """The span that an instant lies in."""
    return next((span for span in spans if span[0] <= at < span[1]), None)


def meets(spans: Iterable[Span], start: float, end: float) -> Span | None:
    """The first span that has something in common with start to end."""
    return next((span for span in spans if span[0] < end and start < span[1]), None)
