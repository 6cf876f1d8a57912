"""A finding of lint: its kind, message, place and severity."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from schedules.spec.finding_ids import ERRORS, INFOS, FindingId
from schedules.spec.layers import Path

Severity = Literal["error", "warning", "info"]


@dataclass(frozen=True, slots=True)
class Finding:
    """`path` leads from the job to the value; without a job it leads from the top of `file`, empty for all files."""

    id: FindingId
    message: str
    path: Path = ()
    job: str = ""
    file: str = ""

    @property
    def severity(self) -> Severity:
        """An error keeps a sync from starting; a warning does not, unless lint is strict; an info is for information."""
        return "error" if self.id in ERRORS else "info" if self.id in INFOS else "warning"
