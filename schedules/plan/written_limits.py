"""A job's own limits, as they stand in the words of its schedule's details. Pure."""

from __future__ import annotations

import re
from typing import Any

from schedules.text.duration import parse_duration

LIMITS = re.compile(
    r"timeout (?P<timeout>\w+), (?P<attempts>\d+) attempts?(?: \((?P<backoff>\w+), (?P<initial>\w+) to (?P<max>\w+)\))?.*"
)
RETRY = {
    "max_attempts": "retry.max_attempts",
    "backoff": "retry.backoff",
    "initial": "retry.initial",
    "max": "retry.max",
    "permanent": "retry.permanent_errors",
}
"""The fields of a step's request by their words in the file."""


def usual_limits(text: str) -> dict[str, Any]:
    """By key of the file, durations in seconds; empty for text of somebody else. The waits are told where there are retries."""
    if not (found := LIMITS.fullmatch(text)):
        return {}
    limits: dict[str, Any] = {"timeout": _seconds(found["timeout"]), "retry.max_attempts": int(found["attempts"])}
    if found["backoff"]:
        waits = {f"retry.{name}": _seconds(found[name]) for name in ("initial", "max")}
        limits |= {"retry.backoff": found["backoff"], **waits}
    return limits


def _seconds(text: str) -> float:
    return parse_duration(text).total_seconds()
