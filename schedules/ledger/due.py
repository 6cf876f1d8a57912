"""Whether a time that somebody names is one at which a job fires, and if not, why not as far as its compiled form tells. Pure."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Literal
from zoneinfo import ZoneInfo

from activities.occurrence import stamp
from schedules.cron.occurrences import next_after, previous_before
from schedules.times.moment import local_text

if TYPE_CHECKING:
    from schedules.model import Times
    from schedules.times.moment import Moment

Kind = Literal["due", "excluded", "no_such_time", "not_scheduled"]
SECOND = timedelta(seconds=1)


@dataclass(frozen=True, slots=True)
class Due:
    """`at` is the instant meant; `before` and `after` are the nearest scheduled times; `notes` are about clocks and calendars."""

    at: datetime
    kind: Kind
    before: datetime | None
    after: datetime | None
    notes: tuple[str, ...] = ()

    @property
    def is_due(self) -> bool:
        """Whether the job fires then."""
        return self.kind == "due"


def due(times: Times, moment: Moment) -> Due:
    """The verdict on a time; of a local time that happens twice the one at which the job fires, or the first."""
    fires = [at for at in moment.instants if is_due(times, at)]
    at = next(iter(fires), moment.instants[0])
    notes = [*_clock_notes(times, moment, fires), *(_moved_notes(times, at) if fires else [])]
    if fires:
        return _verdict(times, at, "due", notes)
    if moment.missing:
        return _verdict(times, at, "no_such_time", notes)
    if excluded := _excluded_by(times, at):
        return _verdict(times, at, "excluded", [*notes, excluded])
    if times.start_at and at < times.start_at and is_due(replace(times, start_at=None), at):
        notes.append(f"the job begins at {stamp(times.start_at)} (start_at): what ran before is another scheduler's")
    return _verdict(times, at, "not_scheduled", notes)


def is_due(times: Times, at: datetime) -> bool:
    """Whether the times hold an instant of whole seconds."""
    return next_after(times, at - SECOND) == at


def _verdict(times: Times, at: datetime, kind: Kind, notes: list[str]) -> Due:
    return Due(at, kind, previous_before(times, at), next_after(times, at), (*notes,))


def _clock_notes(times: Times, moment: Moment, fires: list[datetime]) -> list[str]:
    if moment.wall is None:
        return []
    clock = f"{moment.wall:%H:%M:%S}".removesuffix(":00")
    if moment.missing:
        return [_gap_note(times, moment, clock)]
    if len(moment.instants) == 1:
        return []
    words = {(): "runs at neither", (0,): "runs the first time", (1,): "runs the second time"}
    places = tuple(moment.instants.index(at) for at in fires)
    said = words.get(places, "runs both times; this is the first")
    return [
        f"{clock} happens twice on {moment.wall:%Y-%m-%d} in {times.timezone}, because clocks go back: the job {said}"
    ]


def _gap_note(times: Times, moment: Moment, clock: str) -> str:
    zone = ZoneInfo(times.timezone)
    shifted = moment.instants[0]
    change = change_of_clocks(shifted, zone)
    gap = f"{clock} does not exist on {moment.wall:%Y-%m-%d} in {times.timezone}: clocks go forward over it"
    instead = next_after(times, change - SECOND)
    if instead is None or instead > shifted:
        return f"{gap}, and the job does not run instead"
    return f"{gap}; the job runs at {local_text(instead, times.timezone)} ({stamp(instead)}) instead"


def _moved_notes(times: Times, at: datetime) -> list[str]:
    """A run at the very moment of a change of clocks may stand for a time that was skipped over."""
    zone = ZoneInfo(times.timezone)
    jump = (at.astimezone(zone).utcoffset() or timedelta()) - (
        (at - SECOND).astimezone(zone).utcoffset() or timedelta()
    )
    if jump <= timedelta(0):
        return []
    last = (at - SECOND).astimezone(zone) + SECOND
    clocks = f"clocks go forward at that moment, from {last:%H:%M} to {at.astimezone(zone):%H:%M}"
    return [f"{clocks}: it may be the run of a local time in between that does not exist"]


def change_of_clocks(within: datetime, zone: ZoneInfo) -> datetime:
    """The instant of the last change of clocks at or before an instant, which is no more than a day before it."""
    low, high = int(within.timestamp()) - 86_400, int(within.timestamp())
    after = within.astimezone(zone).utcoffset()
    while high - low > 1:
        middle = (low + high) // 2
        if datetime.fromtimestamp(middle, zone).utcoffset() == after:
            high = middle
        else:
            low = middle
    return datetime.fromtimestamp(high, UTC)


def _excluded_by(times: Times, at: datetime) -> str:
    """The calendar that keeps the job from firing then, if nothing else does; empty where it would not fire anyway."""
    if not is_due(replace(times, exclusions=()), at):
        return ""
    names = [each.comment for each in times.exclusions if not is_due(replace(times, exclusions=(each,)), at)]
    told = next((name for name in names if name), "")
    day = f"{at.astimezone(ZoneInfo(times.timezone)):%Y-%m-%d}"
    return f"{day} is excluded by a calendar of the job" + (f": {told}" if told else "")
