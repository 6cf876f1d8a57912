"""Waits between attempts."""

from __future__ import annotations

import pytest

from activities.contract import Backoff, RetryRequest
from activities.steps.retry import retry_delay


@pytest.mark.parametrize(
    ("backoff", "expected"),
    [
        ("exponential", [10, 20, 40, 80, 160, 300, 300]),
        ("linear", [10, 20, 30, 40, 50, 60, 70]),
        ("fixed", [10, 10, 10, 10, 10, 10, 10]),
    ],
)
def test_wait_grows_as_declared_up_to_max(backoff: Backoff, expected: list[float]) -> None:
    retry = RetryRequest(max_attempts=8, backoff=backoff, initial=10, max=300)
    assert [retry_delay(retry, attempt) for attempt in range(1, 8)] == expected


def test_retry_after_makes_the_wait_longer_even_than_max_but_never_shorter() -> None:
    retry = RetryRequest(initial=10, max=60)
    assert retry_delay(retry, 1, retry_after=1) == 10
    assert retry_delay(retry, 1, retry_after=90) == 90


@pytest.mark.parametrize(
    ("asked", "expected"), [(float("nan"), 10), (-5, 10), (float("inf"), 2_592_000), (1e12, 2_592_000)]
)
def test_a_senseless_retry_after_does_no_harm(asked: float, expected: float) -> None:
    assert retry_delay(RetryRequest(initial=10, max=60), 1, retry_after=asked) == expected


def test_a_very_late_attempt_waits_max() -> None:
    assert retry_delay(RetryRequest(initial=10, max=300), 1_000_000) == 300
