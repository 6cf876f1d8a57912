"""What a trigger came to."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Triggered:
    """`result`: `started`, `waiting` behind another run, `dropped` by overlap, or with --wait the outcome."""

    job: str
    workflow_id: str
    scheduled_at: str
    result: str
    reason: str = ""
