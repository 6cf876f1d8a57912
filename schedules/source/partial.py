"""A job with faults, read as far as it goes, so that all its faults are found at once and not one after the other."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from pydantic_core import ErrorDetails

from schedules.spec.job import JobSpec
from schedules.spec.layers import Path
from schedules.spec.wording import UNKNOWN, meant, path_of

PLACEHOLDERS: dict[str, Any] = {"schedule": "0 0 * * *", "timezone": "UTC", "timeout": "1m"}
"""Stand for what a job must have."""
HANDLERS = frozenset({"run", "steps"})
PLACEHOLDER_RUN = {"command": ["true"]}
ORDER = "steps[]"
"""Stands in `doubtful` for keys within steps."""
OF_TIMES = frozenset({"schedule", "timezone", "dst", "only", "except", "on_holiday"})
OF_LIMITS = HANDLERS | {
    "timeout",
    "deadline",
    "retry",
    "overlap",
    "catchup",
    "jitter",
    "start_deadline",
    "heartbeat_timeout",
    ORDER,
}
OF_NOTICES = frozenset({"on_failure", "on_recovery", "on_missed", "pause_after", "ping"})


@dataclass(frozen=True, slots=True)
class PartialJob:
    """A job with problems. What it holds under the keys in `doubtful` is not what was written, or not what was meant."""

    job: JobSpec
    doubtful: frozenset[str] = frozenset()

    @property
    def has_times(self) -> bool:
        """Whether it runs at the times that were written."""
        return self.doubtful.isdisjoint(OF_TIMES)

    @property
    def has_handlers(self) -> bool:
        """Whether it runs what was written."""
        return self.doubtful.isdisjoint(HANDLERS)

    @property
    def has_order(self) -> bool:
        """Whether its steps are those that were written, and agree."""
        return ORDER not in self.doubtful

    @property
    def has_limits(self) -> bool:
        """Whether its steps, timeouts, retries and overlap are those that were written."""
        return self.doubtful.isdisjoint(OF_LIMITS)

    @property
    def has_notices(self) -> bool:
        """Whether people are told as was written."""
        return self.doubtful.isdisjoint(OF_NOTICES)


class Repair:
    """The data of one job without its faults: without unknown keys, and with placeholders for wrong values."""

    def __init__(self, data: dict[str, Any]) -> None:
        self.data: dict[str, Any] = deepcopy(data)
        self.doubtful: set[str] = set()

    def without(self, errors: Iterable[ErrorDetails]) -> None:
        """Takes away what pydantic has found fault with."""
        for error in errors:
            path = path_of(JobSpec, error)
            if error["type"] == UNKNOWN and _removed(self.data, path):
                self._doubt(path, meant(JobSpec, error))
            else:
                self._replace(str(path[0]) if path else "run")
        if not HANDLERS & self.data.keys():
            self._replace("run")

    def _doubt(self, path: Path, intended: Path | None) -> None:
        """An unknown key leaves in doubt the key that was probably meant, and what it stands in."""
        if len(path) > 1:
            of_run = {"run"} if len(path) == len(("run", "http")) else set[str]()
            self.doubtful |= {"steps": {ORDER}, "run": of_run}.get(str(path[0]), {str(path[0])})
        elif intended:
            self.doubtful.add(str(intended[0]))

    def _replace(self, key: str) -> None:
        self.doubtful.add(key)
        if key in HANDLERS:
            self.data = {name: value for name, value in self.data.items() if name not in HANDLERS}
            self.data["run"] = PLACEHOLDER_RUN
        elif key in PLACEHOLDERS:
            self.data[key] = PLACEHOLDERS[key]
        else:
            self.data.pop(key, None)


def _removed(data: Any, path: Sequence[str | int]) -> bool:
    """Whether the key at the path was there to be removed; a short form of a value has other paths than its model."""
    for step in path[:-1]:
        inside = isinstance(data, list) and isinstance(step, int) and step < len(data)
        if not inside and not (isinstance(data, dict) and step in data):
            return False
        data = data[step]
    return isinstance(data, dict) and data.pop(path[-1], data) is not data
