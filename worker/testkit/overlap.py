"""The start of an occurrence while the run before it goes on, as the server's overlap policies have it. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime

    from activities.overlap import Overlap


@dataclass(frozen=True)
class Ran:
    """The run before: the time that it stands for, and from when to when it went."""

    scheduled_at: datetime
    started: datetime
    ended: datetime


def start_of(due: datetime, before: Ran | None, overlap: Overlap) -> datetime | None:
    """When the occurrence that is due starts; None where it is skipped."""
    if before is None or before.ended <= due or overlap == "allow_all":
        return due
    if overlap == "skip" or (overlap == "buffer_one" and before.started > due):
        return None
    return before.ended
