"""The options of a sync as values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class SyncOptions:
    """The values of the command line; README and `--help` say what each means."""

    paths: tuple[str, ...]
    dry_run: bool = False
    check: bool = False
    #: A file to keep the plan in; empty for none.
    plan_out: str = ""
    #: A file with the plan to apply; empty to make one.
    apply_plan: str = ""
    prune: bool = True
    #: How many deletions are allowed; None for a share of what is owned.
    max_delete: int | None = None
    adopt: bool = False
    deep: bool = False
    strict: bool = False
    preflight: bool = True
    #: Requests a second; None for as many as the server takes.
    rate: int | None = None
    output: Literal["text", "json", "markdown"] = "text"

    @property
    def look(self) -> bool:
        """Whether nothing is to be written."""
        return bool(self.dry_run or self.check or self.plan_out)
