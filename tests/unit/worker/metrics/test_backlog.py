"""When a backlog grows."""

from __future__ import annotations

import pytest

from worker.metrics.backlog import is_growing


@pytest.mark.parametrize(
    ("counts", "grows"),
    [
        ([], False),
        ([1, 2, 3], False),
        ([1, 2, 3, 4], True),
        ([5, 5, 5, 7], True),
        ([5, 5, 5, 6], False),
        ([0, 0, 0, 1], False),
        ([5, 5, 5, 5], False),
        ([0, 200, 150, 100], False),
        ([1, 9, 8, 10], False),
        ([0, 0, 0, 0], False),
    ],
)
def test_a_backlog_grows_where_four_looks_never_fall_and_rise_by_two(counts: list[int], grows: bool) -> None:
    assert is_growing(counts) == grows
