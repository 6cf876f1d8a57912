"""Keeps other processes of the same user out of this one's memory and environment, where its secrets are."""

from __future__ import annotations

import sys

_PR_SET_DUMPABLE = 4  # linux/prctl.h


def close_to_commands() -> bool:
    """Whether it could be done: on Linux alone, by PR_SET_DUMPABLE, see prctl(2). What this process starts is not concerned.

    From then on /proc/<pid>/environ, /proc/<pid>/mem, ptrace and core dumps are for root only.
    """
    if sys.platform != "linux":
        return False
    import ctypes

    return bool(ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0) == 0)
