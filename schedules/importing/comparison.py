"""The old side's starts beside the new side's runs: what has its match, what only one side did, and by how much times differ. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise
from statistics import median
from typing import Any, Final
from zoneinfo import ZoneInfo

from activities.occurrence import stamp
from schedules.text.shown import some_of

FARTHEST: Final = timedelta(minutes=5)
"""The most by which a start may lie from the time that it belongs to."""
SHOWN: Final = 5


@dataclass(frozen=True, slots=True)
class Compared:
    """One job: the new side's scheduled times beside the old side's starts, all in UTC, within `since` and `until`."""

    job: str
    zone: str
    since: datetime
    until: datetime
    matched: tuple[tuple[datetime, datetime], ...]  #: scheduled time and old start
    only_old: tuple[datetime, ...]
    only_new: tuple[datetime, ...]

    @property
    def equal(self) -> bool:
        """Whether each start has its match, and there are enough of them to speak of a period."""
        return not self.only_old and not self.only_new and len(self.matched) > 1

    @property
    def clock_change(self) -> bool:
        """Whether the zone changed its clocks in between."""
        zone = ZoneInfo(self.zone)
        offsets = {
            at.astimezone(zone).utcoffset() for at in (self.since, self.until, *(new for new, _ in self.matched))
        }
        return len(offsets) > 1

    @property
    def verdict(self) -> str:
        """One line for a person."""
        count = len(self.matched)
        if not count and not self.only_old and not self.only_new:
            return "nothing to compare: neither side had a start"
        if self.only_old or self.only_new:
            return f"differs: {count} matched, {len(self.only_old)} only old, {len(self.only_new)} only new"
        if count == 1:
            return "one start matched: too few to tell, compare a whole period"
        spans = [abs(old - new).total_seconds() for new, old in self.matched]
        clocks = ", a change of clocks among them" if self.clock_change else ""
        return f"equal: {count} starts matched{clocks}; apart by {median(spans):.1f} s in the median, {max(spans):.1f} s at most"


def reach_of(times: Sequence[datetime]) -> timedelta:
    """The most by which a start may lie from its time, so that it belongs to no other of these sorted ones."""
    return min([FARTHEST, *((later - earlier) / 2 for earlier, later in pairwise(times))])


def compare(
    job: str, zone: str, new: Sequence[datetime], old: Sequence[datetime], since: datetime, until: datetime
) -> Compared:
    """Pairs each old start with the nearest scheduled time that has none yet; a pair lies no farther apart than half the distance of times."""
    every = sorted(new)
    reach = reach_of(every)
    times = [at for at in every if since - reach <= at <= until + reach]
    free, matched, alone = list(times), list[tuple[datetime, datetime]](), list[datetime]()
    for start in sorted(at for at in old if since <= at <= until):
        near = min(free, key=lambda at: abs(at - start), default=None)
        if near is not None and abs(near - start) <= reach:
            free.remove(near)
            matched.append((near, start))
        else:
            alone.append(start)
    return Compared(job, zone, since, until, tuple(matched), tuple(alone), tuple(free))


def compared_document(found: Compared) -> dict[str, Any]:
    """For JSON; times are RFC 3339 in UTC, spans are seconds."""
    return {
        "job": found.job,
        "equal": found.equal,
        "verdict": found.verdict,
        "from": stamp(found.since),
        "to": stamp(found.until),
        "matched": len(found.matched),
        "only_old": [stamp(at) for at in found.only_old],
        "only_new": [stamp(at) for at in found.only_new],
        "largest_difference": max((abs(old - new).total_seconds() for new, old in found.matched), default=None),
        "clock_change": found.clock_change,
    }


def compared_lines(found: Compared) -> Iterator[str]:
    """The verdict, and the starts without a match."""
    yield f"{found.job}: {found.verdict}"
    for name, times in (("only old", found.only_old), ("only new", found.only_new)):
        if times:
            yield f"  {name}: {some_of([stamp(at) for at in times], SHOWN)}"
