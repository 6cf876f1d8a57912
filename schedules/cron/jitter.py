"""The server's jitter, foretold: a hash of the schedule and the scheduled time decides it.

Follows `addJitter` and `GetNextTime` of temporal's `service/worker/scheduler/spec.go`, and FarmHash's 32-bit fingerprint
(`farmhashmk`), which that uses. A test holds it against the real server.
"""

from __future__ import annotations

import struct
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from schedules.cron.occurrences import next_after

if TYPE_CHECKING:
    from schedules.recurrence import Times

YEAR_1 = 62_135_596_800  # seconds from year 1, where Go counts from, to 1970
BITS = 0xFFFFFFFF
C1, C2 = 0xCC9E2D51, 0x1B873593


def jittered(times: Times, scheduled: datetime, *, namespace_id: str, schedule_id: str) -> datetime:
    """The instant, in UTC and milliseconds, at which the server starts the run of a scheduled time of `times`.

    `namespace_id` is the UUID of the namespace. The next time, excluded or not, is the latest that jitter reaches.
    """
    longest = timedelta(seconds=times.jitter)
    following = next_after(replace(times, exclusions=(), start_at=None, end_at=None), scheduled)
    if following is not None:
        longest = min(longest, following - scheduled)
    milliseconds = min(longest // timedelta(milliseconds=1), BITS)
    share = fingerprint32(_marshalled(scheduled) + f"{namespace_id}-{schedule_id}".encode())
    return scheduled.astimezone(UTC) + timedelta(milliseconds=(share * milliseconds) >> 32)


def _marshalled(moment: datetime) -> bytes:
    """Go's binary form of a time in UTC, whole seconds."""
    return struct.pack(">BqIh", 1, int(moment.timestamp()) + YEAR_1, 0, -1)


def fingerprint32(data: bytes) -> int:
    """FarmHash's Fingerprint32 of more than 24 bytes (a time and a seed always are)."""
    size = len(data)
    words = [_mixed(_word(data, size - back)) for back in (4, 8, 16, 12, 20)]
    high, middle = size, C1 * size & BITS
    low = middle
    high = _step(_step(high, words[0]), words[2])
    middle = _step(_step(middle, words[1]), words[3])
    low = _rotated(low + words[4] & BITS, 19) + 113 & BITS
    for start in range(0, (size - 1) // 20 * 20, 20):
        high, middle, low = _round(high, middle, low, struct.unpack_from("<5I", data, start))
    return _last(_last(high, _twice(middle)), _twice(low))


def _round(high: int, middle: int, low: int, block: tuple[int, ...]) -> tuple[int, int, int]:
    a, b, c, d, e = block
    high, middle, low = high + a & BITS, middle + b & BITS, low + c & BITS
    high = _murmur(d, high) + e & BITS
    middle = _murmur(c, middle) + a & BITS
    low = _murmur(b + e * C1 & BITS, low) + d & BITS
    low = low + middle & BITS
    return high, middle + low & BITS, low


def _word(data: bytes, start: int) -> int:
    return int.from_bytes(data[start : start + 4], "little")


def _rotated(word: int, by: int) -> int:
    return (word >> by | word << (32 - by)) & BITS


def _mixed(word: int) -> int:
    return _rotated(word * C1 & BITS, 17) * C2 & BITS


def _step(state: int, word: int) -> int:
    return _rotated(state ^ word, 19) * 5 + 0xE6546B64 & BITS


def _murmur(word: int, state: int) -> int:
    return _step(state, _mixed(word))


def _twice(word: int) -> int:
    return _rotated(_rotated(word, 11) * C1 & BITS, 17) * C1 & BITS


def _last(state: int, word: int) -> int:
    return _rotated(_rotated(state + word & BITS, 19) * 5 + 0xE6546B64 & BITS, 17) * C1 & BITS
