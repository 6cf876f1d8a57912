"""The rule for names of task queues."""

from __future__ import annotations

RESERVED = "/_sys/"
LONGEST = 1000


def check_task_queue(name: str) -> str:
    """The name, by the rule of the Temporal server (`common/tqid`, `limit.maxIDLength`). Raises ValueError."""
    if name.startswith(RESERVED):
        raise ValueError(
            f"{name!r} cannot be a task queue: Temporal reserves names that begin with {RESERVED}; choose another"
        )
    if (size := len(name.encode(errors="replace"))) > LONGEST:
        raise ValueError(f"a task queue's name of {size} bytes is too long; Temporal takes at most {LONGEST}")
    return name
