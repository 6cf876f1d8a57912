"""The silence of a namespace, from which it is told on Temporal's V2 scheduler that the server was away. Pure.

V2 keeps no record of when it was at work. Where no run of the namespace started or ended while a start became late, nothing was.
"""

from __future__ import annotations

from datetime import datetime, timedelta

ABSENCE = timedelta(seconds=5)
"""A server that was silent for less was busy, not away."""


def signs_of_life(at: datetime, late_after: timedelta) -> str:
    """The visibility query for what the server did for any run of a namespace while a start became late."""
    span = max(late_after, ABSENCE)
    return f"{within('StartTime', at, span)} OR {within('CloseTime', at, span)}"


def within(attribute: str, begin: datetime, span: timedelta) -> str:
    """A visibility query; without the first quarter, in which what then went away may still have been at work."""
    return f'{attribute} BETWEEN "{(begin + span / 4).isoformat()}" AND "{(begin + span).isoformat()}"'
