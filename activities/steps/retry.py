"""The time of the next attempt after a failure. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

if TYPE_CHECKING:
    from activities.contract import RetryRequest


LONGEST = 30 * 86_400.0
"""Seconds; no `retry_after` is longer."""


def retry_delay(retry: RetryRequest, attempt: int, retry_after: float | None = None) -> float:
    """Seconds to wait after `attempt` (from 1) failed; at least `retry_after`, which may exceed `retry.max`."""
    # A handler's own figure may be anything, NaN and infinity too.
    asked = min(retry_after, LONGEST) if retry_after is not None and retry_after > 0 else 0.0
    return max(min(_growth(retry, attempt), retry.max), asked)


def _growth(retry: RetryRequest, attempt: int) -> float:
    match retry.backoff:
        case "exponential":
            # 2**63 times anything worth waiting for is beyond every `max`; a larger power overflows a float.
            return retry.initial * 2.0 ** min(attempt - 1, 63)
        case "linear":
            return retry.initial * attempt
        case "fixed":
            return retry.initial
        case never:
            assert_never(never)
