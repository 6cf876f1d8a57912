"""Whether a schedule is in sync, judged from what List shows of it. Pure."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from schedules.plan.fingerprint import fingerprint

if TYPE_CHECKING:
    from schedules.model import DesiredSchedule, ListedSchedule, Times

LISTED_ENTRIES = 10
"""List shows no more calendars, intervals or exclusions than this of a schedule (server 1.32.0)."""


def listed_equal(desired: DesiredSchedule, listed: ListedSchedule) -> bool:
    """Whether a sync wrote just this last, and nothing that List shows was changed by hand since.

    A hand edit of what List does not show (arguments, policies, later entries) is seen only by Describe.
    """
    return (
        listed.owner == desired.owner
        and listed.workflow_type == desired.action.workflow_type
        and desired.paused in (None, listed.paused)
        and listed.times == cut(desired.times)
        and listed.fingerprint == fingerprint(desired)
    )


def cut(times: Times) -> Times:
    """The times as List shows them."""
    if max(len(times.calendars), len(times.intervals), len(times.exclusions)) <= LISTED_ENTRIES:
        return times
    return replace(
        times,
        calendars=times.calendars[:LISTED_ENTRIES],
        intervals=times.intervals[:LISTED_ENTRIES],
        exclusions=times.exclusions[:LISTED_ENTRIES],
    )
