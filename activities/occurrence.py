"""Occurrences: their times as RFC 3339."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime


def stamp(at: datetime) -> str:
    """RFC 3339 in UTC, whole seconds."""
    return f"{at:%Y-%m-%dT%H:%M:%SZ}"
