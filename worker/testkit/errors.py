"""Errors of the kit: what it refuses, and why."""

from __future__ import annotations

from schedules.errors import TickwrightError


class KitError(TickwrightError):
    """A test asks for what cannot be, or for what did not happen; the text says what to write instead."""
