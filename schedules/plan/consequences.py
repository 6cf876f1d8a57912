"""Consequences of a change made now: the next times before and after; what is lost, kept or missed. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import islice
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

from activities.occurrence import stamp
from schedules.cron.occurrences import Occurrences
from schedules.cron.reboot import has_mark
from schedules.model import Policies
from schedules.plan.changed_days import changed_days
from schedules.text.duration import format_duration
from schedules.times.clock_notes import left_out_text

if TYPE_CHECKING:
    from schedules.model import DesiredSchedule, ObservedSchedule, RuntimeState, Times

SHOWN = 5
COMPARED = 400
"""Times that must stay the same for a change of the times to count as one of the horizon alone."""
FOREVER = timedelta(days=365 * 80)


@dataclass(frozen=True, slots=True)
class Consequences:
    """The next times (UTC) of the schedule as it is and as it would be, and what else there is to know, in sentences."""

    before: tuple[datetime, ...] = ()
    after: tuple[datetime, ...] = ()
    notes: tuple[str, ...] = ()
    #: Those of the notes by which something that is wanted does not run.
    dangers: tuple[str, ...] = ()


NOTHING = Consequences()


def consequences(
    desired: DesiredSchedule | None, observed: ObservedSchedule | None, fields: frozenset[str], now: datetime
) -> Consequences:
    """The consequences of making `observed` like `desired` at `now`; `fields` are the dotted names of all that differs."""
    if desired is None:
        return _of_deletion(observed, now) if observed else NOTHING
    new = Occurrences(desired.times)
    if observed is None:
        return Consequences(
            after=_next(new, now), notes=(*_reboot_of(desired), *_reach(desired, now), *_paused(desired))
        )
    old = new if desired.times == observed.times else Occurrences(observed.times)
    idle = _idle(observed)
    dangers = [
        *_discarded(desired, observed, new, now),
        *(_missed(desired.times, old, new, now) if old is not new and not idle else ()),
    ]
    notes = [
        *_policies(observed.policies, desired.policies),
        *(() if observed.unreadable else _catch_up(_request_of(observed), _request_of(desired))),
        *_in_progress(observed),
        *dangers,
        *_begins_earlier(desired, observed, now),
        *_times_changed(desired, old, new, fields, now),
        *(() if old is new else _paused(desired, observed.state)),
    ]
    return Consequences(_next(old, now), _next(new, now), tuple(notes), tuple(dangers))


def _of_deletion(observed: ObservedSchedule, now: datetime) -> Consequences:
    dangers = []
    if observed.activity.waiting:
        dangers.append(f"{_occurrences(observed.activity.waiting)} that wait would be discarded")
    if due := _due(observed, now):
        dangers.append(_due_text(due))
    notes = (*_in_progress(observed), *dangers)
    return Consequences(before=_next(Occurrences(observed.times), now), notes=notes, dangers=tuple(dangers))


def _next(times: Occurrences, now: datetime) -> tuple[datetime, ...]:
    return tuple(islice(times.between(now + timedelta(seconds=1), now + FOREVER), SHOWN))


def _reboot_of(desired: DesiredSchedule) -> Iterator[str]:
    if has_mark(desired.times):
        yield "it runs once for each new build of the workers"


def _reach(desired: DesiredSchedule, now: datetime) -> Iterator[str]:
    if desired.exact_until:
        yield f"clock changes are worked out until {desired.exact_until:%Y-%m-%d}"
    if left_out := left_out_text(desired.left_out, desired.times.timezone, now):
        yield left_out


def _policies(before: Policies, after: Policies) -> Iterator[str]:
    shown: tuple[tuple[str, Any, Any], ...] = (
        ("overlap", before.overlap, after.overlap),
        ("catch-up window", _window(before), _window(after)),
        ("pause on failure", before.pause_on_failure, after.pause_on_failure),
    )
    for name, old, new in shown:
        if old != new:
            yield f"policy {name} changes from {old} to {new}"


def _request_of(schedule: DesiredSchedule | ObservedSchedule) -> dict[str, Any]:
    """The job's rule for late starts, as the runs get it; empty for a schedule that starts a workflow of the user's."""
    first = next(iter(schedule.action.args), None)
    found = first.get("catchup") if isinstance(first, dict) else None
    return found if isinstance(found, dict) else {}


def _catch_up(before: dict[str, Any], after: dict[str, Any]) -> Iterator[str]:
    for name, shown in (("catchup", _rule), ("start_deadline", _deadline)):
        old, new = shown(before), shown(after)
        if old != new:
            yield f"policy {name} changes from {old} to {new}"


def _rule(told: dict[str, Any]) -> str:
    policy = str(told.get("policy", "none"))
    return f"{policy} of {told.get('max_missed')}" if policy == "run_all" else policy


def _deadline(told: dict[str, Any]) -> str:
    seconds = told.get("start_deadline")
    return format_duration(timedelta(seconds=seconds)) if isinstance(seconds, int | float) else "none"


def _window(policies: Policies) -> str:
    return format_duration(timedelta(seconds=policies.catchup_window))


def _in_progress(observed: ObservedSchedule) -> Iterator[str]:
    running = observed.activity.running
    if len(running) == 1:
        yield f"a run is in progress ({running[0]}); it continues unchanged"
    elif running:
        yield f"{len(running)} runs are in progress; they continue unchanged"


def _discarded(desired: DesiredSchedule, observed: ObservedSchedule, new: Occurrences, now: datetime) -> Iterator[str]:
    """The server forgets starts whose moment, jitter included, is past when it takes an update; its buffer stays.

    Seen on server 1.32.0, and in its source: `processTimeRange` skips what lies before the update.
    """
    due = _due(observed, now)
    if due:
        yield f"{_due_text(due)} by this update"
    lost = [at for at in _held_back(observed, now) if not _kept(desired, observed, new, at)]
    if lost and not due:
        yield f"{_occurrences(len(lost))} held back by jitter may be discarded by this update"


def _begins_earlier(desired: DesiredSchedule, observed: ObservedSchedule, now: datetime) -> Iterator[str]:
    """A sync that has forgotten `--from` would make both sides live."""
    begin = observed.times.start_at
    if begin and begin > now and (desired.times.start_at or now) < begin:
        yield f"it was to begin at {stamp(begin)}, and now begins before: the side that it is taken over from may run it, too"


def _idle(observed: ObservedSchedule) -> bool:
    """Whether the server starts nothing, although it goes on to show next times, past ones too (server 1.32.0)."""
    return observed.state.paused or observed.state.remaining_actions == 0


def _due(observed: ObservedSchedule, now: datetime) -> int:
    return 0 if _idle(observed) else sum(at <= now for at in observed.activity.next_times)


def _due_text(due: int) -> str:
    return f"{_occurrences(due)} that {'is' if due == 1 else 'are'} due and not started would be discarded"


def _paused(desired: DesiredSchedule, state: RuntimeState | None = None) -> Iterator[str]:
    if state.paused if state and desired.paused is None else desired.paused:
        yield "it is paused: nothing runs until it is resumed"


def _held_back(observed: ObservedSchedule, now: datetime) -> Iterator[datetime]:
    """The scheduled times that are past while jitter still delays their start."""
    jitter = observed.times.jitter
    pending = sum(now < at <= now + timedelta(seconds=jitter) for at in observed.activity.next_times)
    if not jitter or not pending or _idle(observed):
        return
    started, created = observed.activity.started, observed.activity.created_at
    begin = now - timedelta(seconds=jitter)
    for at in Occurrences(observed.times).between(max(begin, created or begin), now):
        if not any(run.endswith(f"-{stamp(at)}") for run in started):
            yield at


def _kept(desired: DesiredSchedule, observed: ObservedSchedule, new: Occurrences, at: datetime) -> bool:
    same_time = new.next_after(at - timedelta(seconds=1)) == at
    return same_time and desired.times.jitter == observed.times.jitter


def _times_changed(
    desired: DesiredSchedule, old: Occurrences, new: Occurrences, fields: frozenset[str], now: datetime
) -> Iterator[str]:
    if old is new:
        return
    if _only_horizon(fields) and _same_for_long(old, new, now) and desired.exact_until:
        what = "horizon of clock changes and holidays" if "exclusions" in "".join(fields) else "DST horizon"
        yield f"the times stay; {what} extended to {desired.exact_until:%Y-%m-%d}"
        yield from _reach(replace(desired, exact_until=None), now)
        return
    if _next(old, now) == _next(new, now):
        yield from changed_days(old, new, ZoneInfo(desired.times.timezone), now, desired.exact_until)
    yield from _reach(desired, now)


def _only_horizon(fields: frozenset[str]) -> bool:
    parts = ("calendars", "intervals", "exclusions")
    places = tuple(f"{whole}.{part}" for whole in ("times", "action.args[0].times") for part in parts)
    return all(field.startswith(places) for field in fields)


def _same_for_long(old: Occurrences, new: Occurrences, now: datetime) -> bool:
    end = now + FOREVER
    return list(islice(old.between(now, end), COMPARED)) == list(islice(new.between(now, end), COMPARED))


def _missed(times: Times, old: Occurrences, new: Occurrences, now: datetime) -> Iterator[str]:
    """A change that moves the run still to come to a time already past takes it away.

    A past time of the new schedule stands for the old one's run that is nearest to it: the last, which was made, or the next.
    """
    was_due, past, then = old.next_after(now), new.previous_before(now), new.next_after(now)
    last = old.previous_before(now)
    if was_due is None or past is None or (last is not None and past - last <= was_due - past):
        return
    if then is None or was_due < then:
        zone = ZoneInfo(times.timezone)
        until = f"until {_local(then, zone)}" if then else "after it"
        yield (
            f"if applied now, this change loses a run: {_local(was_due, zone)} is removed, its new time {_local(past, zone)} has passed, "
            f"and nothing runs {until}"
        )


def _local(at: datetime, zone: ZoneInfo) -> str:
    return f"{at.astimezone(zone):%Y-%m-%d %H:%M %Z}"


def _occurrences(count: int) -> str:
    return "1 occurrence" if count == 1 else f"{count} occurrences"
