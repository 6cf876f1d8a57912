"""The conflict token of a schedule: a count of its versions, by which Temporal's two schedulers can be told apart. Pure.

V1 writes its most significant byte first, V2 last. A move to V2 keeps the count. On V2 every trigger and backfill that is taken
makes a new version, too.
"""

from __future__ import annotations


def is_v2(token: bytes) -> bool:
    """Whether the schedule is on the V2 scheduler."""
    return int.from_bytes(token, "little") < int.from_bytes(token, "big")


def versions(token: bytes) -> int:
    """How many versions the schedule has had."""
    return min(int.from_bytes(token, "little"), int.from_bytes(token, "big"))
