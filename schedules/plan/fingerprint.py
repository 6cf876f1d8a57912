"""A desired schedule as 32 hex digits: equal schedules have equal ones, on every machine and in every process. Pure."""

from __future__ import annotations

import hashlib
import json
from dataclasses import fields
from datetime import datetime
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

from activities.contract import HASH_ATTRIBUTE, OUTCOME_ATTRIBUTE, OWNER_ATTRIBUTE
from schedules.cron.notation.literal import calendar_text
from schedules.model import Calendar

if TYPE_CHECKING:
    from schedules.model import DesiredSchedule

ATTRIBUTES = (OWNER_ATTRIBUTE, HASH_ATTRIBUTE, OUTCOME_ATTRIBUTE)
"""The search attributes by which a sync knows its own schedules again, and the one by which runs tell how they ended."""
DIGITS = 32
FORM = 1
"""Counts the ways in which a schedule was written to the server; with a new one every schedule is written once more."""


def fingerprint(desired: DesiredSchedule) -> str:
    """The first 32 hex digits of the SHA-256 of the schedule as canonical JSON."""
    text = json.dumps([FORM, desired], default=_plain, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:DIGITS]


def marks(desired: DesiredSchedule) -> dict[str, Any]:
    """The values of those attributes that a schedule has."""
    return {OWNER_ATTRIBUTE: desired.owner, HASH_ATTRIBUTE: fingerprint(desired)}


def _plain(value: Any) -> Any:
    if isinstance(value, Calendar):
        return _calendar(value)
    if isinstance(value, datetime):
        return value.isoformat()
    return {name: getattr(value, name) for name in _compared(value.__class__)}


@lru_cache(maxsize=10_000)
def _calendar(calendar: Calendar) -> tuple[str, str]:
    return calendar_text(calendar), calendar.comment


@cache
def _compared(kind: type[Any]) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind) if field.compare)
