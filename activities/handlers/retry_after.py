"""The `Retry-After` header (RFC 9110, section 10.2.3). Pure."""

from __future__ import annotations

from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

LONGEST = 86_400.0
"""Seconds, a day; a service that asks for more is asked again after this."""


def seconds_to_wait(header: str | None, now: datetime) -> float | None:
    """Seconds from `now` (aware), between 0 and LONGEST; None without a header or with one that cannot be read."""
    text = (header or "").strip()
    if text.isascii() and text.isdigit():
        return min(float(text), LONGEST)
    try:
        when = parsedate_to_datetime(text)
    except ValueError:
        return None
    # An HTTP date is in UTC; the oldest of its three forms does not say so.
    when = when if when.tzinfo else when.replace(tzinfo=UTC)
    return min(max((when - now).total_seconds(), 0.0), LONGEST)
