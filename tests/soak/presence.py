"""Who was there and when, as far as that is certain: the log of the faults is all that this stands on."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tests.soak.spans import Span, common, complement, merged

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

RESTARTED = 20.0
"""Seconds after a server answers again in which its schedulers may still be taking up their work."""
RESUMED = 4.0
"""The same for workers, and after the server was only stopped for a moment."""
MOMENT = 10.0
"""Its tasks time out when it is stopped for longer."""


@dataclass
class Presence:
    """One process over time. `up` and `down` are certain; between them, while it starts or ends, it is neither.

    `settling` are the times after a return in which it may still be slow to take up its work.
    """

    up: list[Span] = field(default_factory=list)
    down: list[Span] = field(default_factory=list)
    settling: list[Span] = field(default_factory=list)
    _up_since: float | None = None
    _down_since: float | None = None

    def leaves(self, at: float) -> None:
        """From now on it may be away."""
        if self._up_since is not None:
            self.up.append((self._up_since, at))
            self._up_since = None

    def is_gone(self, at: float) -> None:
        """From now on it is away."""
        self._down_since = at

    def returns(self, at: float) -> None:
        """From now on it may be there."""
        if self._down_since is not None:
            self.down.append((self._down_since, at))
            self._down_since = None

    def is_there(self, at: float, settles: float) -> None:
        """From now on it is there, and `settles` seconds later at its usual pace."""
        self._up_since = at
        self.settling.append((at, at + settles))

    def end(self, at: float) -> None:
        """The log ends here."""
        self.leaves(at)
        self.returns(at)


@dataclass(frozen=True)
class Outage:
    """From `start` to `end` something may have been away; `sure` are the parts in which nothing can have run."""

    start: float
    end: float
    sure: tuple[Span, ...]


def outages(server: Presence, workers: Sequence[Presence], begin: float, end: float) -> list[Outage]:
    """Those of a task queue: of the server, or of all of its workers."""
    pool = merged(span for worker in workers for span in worker.up)
    pool_down = [(begin, end)]
    for worker in workers:
        pool_down = common(pool_down, worker.down)
    certain = merged([*server.down, *pool_down])
    usable = common(server.up, pool)
    returns = [*server.settling, *_returns(workers, pool)]
    loose = merged([*complement(usable, begin, end), *returns])
    return [
        Outage(first, last, tuple(span for span in certain if first <= span[0] and span[1] <= last + 0.001))
        for first, last in loose
    ]


def _returns(workers: Sequence[Presence], pool: Iterable[Span]) -> list[Span]:
    """A worker that returns while another is there ends no outage."""
    starts = {start for start, _ in pool}
    return [span for worker in workers for span in worker.settling if span[0] in starts]


def away_until(outage: Outage, at: float) -> float:
    """Until when nothing can have run that was due at an instant; minus infinity where that is not certain."""
    return max((last for first, last in outage.sure if first <= at < last), default=-math.inf)
