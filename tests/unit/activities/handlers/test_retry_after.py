"""The Retry-After header."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from activities.handlers.retry_after import seconds_to_wait

NOW = datetime(1994, 11, 6, 8, 49, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("120", 120),
        ("0", 0),
        (" 7 ", 7),
        ("7200", 7200),
        ("99999999", 86_400),
        # The three forms of RFC 9110, section 5.6.7.
        ("Sun, 06 Nov 1994 08:49:37 GMT", 37),
        ("Sunday, 06-Nov-94 08:49:37 GMT", 37),
        ("Sun Nov  6 08:49:37 1994", 37),
        ("Sun, 06 Nov 1994 08:00:00 GMT", 0),
        ("Sun, 06 Nov 2094 08:49:37 GMT", 86_400),
        (None, None),
        ("", None),
        ("soon", None),
        ("-5", None),
        ("1.5", None),
        ("²", None),
        ("Sun, 99 Nov 1994 08:49:37 GMT", None),
    ],
)
def test_header_is_read_and_bounded(header: str | None, expected: float | None) -> None:
    assert seconds_to_wait(header, NOW) == expected
