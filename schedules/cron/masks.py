"""Sets of small numbers as the bits of an integer, and their short form as ranges."""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

from schedules.recurrence import Range

if TYPE_CHECKING:
    from collections.abc import Iterable

    from schedules.recurrence import Ranges


def mask_of(numbers: Iterable[int]) -> int:
    """Bit n is set for every n given."""
    mask = 0
    for number in numbers:
        mask |= 1 << number
    return mask


def span(low: int, high: int) -> int:
    """The numbers from low to high, both included."""
    return (1 << (high + 1)) - (1 << low)


@lru_cache(maxsize=4096)
def members(mask: int) -> tuple[int, ...]:
    """The numbers of a mask, ascending."""
    numbers = []
    while mask:
        lowest = mask & -mask
        numbers.append(lowest.bit_length() - 1)
        mask ^= lowest
    return tuple(numbers)


@lru_cache(maxsize=4096)
def mask_of_ranges(ranges: Ranges) -> int:
    """The numbers that ranges hold."""
    mask = 0
    for item in ranges:
        mask |= mask_of(range(item.start, item.end + 1, item.step))
    return mask


@lru_cache(maxsize=4096)
def ranges_of(mask: int) -> Ranges:
    """The fewest ranges that read well: one stepped range, else runs of neighbours and a stepped range of what stands alone."""
    numbers = members(mask)
    if whole := _progression(numbers):
        return (whole,)
    runs = _runs(numbers)
    singles = tuple(run.start for run in runs if run.start == run.end)
    if alone := _progression(singles):
        return tuple(sorted((*(run for run in runs if run.start != run.end), alone)))
    return tuple(runs)


def _progression(numbers: tuple[int, ...]) -> Range | None:
    if len(numbers) < 3:  # noqa: PLR2004  two numbers read better as a list
        return None
    step = numbers[1] - numbers[0]
    if all(after - before == step for before, after in pairwise(numbers)):
        return Range(numbers[0], numbers[-1], step)
    return None


def _runs(numbers: tuple[int, ...]) -> list[Range]:
    runs: list[Range] = []
    for number in numbers:
        if runs and runs[-1].end + 1 == number:
            runs[-1] = Range(runs[-1].start, number)
        else:
            runs.append(Range(number, number))
    return runs
