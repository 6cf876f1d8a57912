"""The wire format of the watchdog, beside `activities.notices.contract`: stored in Temporal's history, so fields are only ever added."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from activities.contract import TimesRequest
from activities.notices.contract import Target


@dataclass(frozen=True)
class WatchedJob:
    """A job whose runs must begin within `grace` seconds; `targets` are places in the request's list.

    A job that is paused may miss its runs for `paused_for` seconds. `jitter` of its schedule is a part of `grace`.
    """

    job: str
    times: TimesRequest
    grace: float
    paused_for: float
    targets: list[int]
    contact: str = ""
    runbook: str = ""
    jitter: float | None = None


@dataclass(frozen=True)
class WatchdogRequest:
    """The one argument of the watchdog."""

    project: str
    environment: str
    targets: list[Target]
    jobs: list[WatchedJob]


@dataclass(frozen=True)
class WatchState:
    """What one look leaves to the next: all is known up to `looked_at`, and `asked_at` is when it was last tried.

    `missing` is by job the first time that it missed, until it runs again; `told` are those people know of, `paused` those
    that were found paused at the last look.
    """

    looked_at: str = ""
    asked_at: str = ""
    missing: dict[str, str] = field(default_factory=dict)
    told: list[str] = field(default_factory=list)
    paused: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Look:
    """The one argument of the activity that looks."""

    request: WatchdogRequest
    state: WatchState


@dataclass(frozen=True)
class Missed:
    """A run that did not begin, for people."""

    job: str
    scheduled_at: str
    reason: str


@dataclass(frozen=True)
class Seen:
    """What a look has found, each missed run once."""

    state: WatchState
    missed: list[Missed] = field(default_factory=list)


MissedKind = Literal["paused", "begun", "other"]
"""`begun`: the run, or a late one that may decide about it, was started a moment ago; the next look asks again."""


@dataclass(frozen=True)
class Finding:
    """Why a run did not begin."""

    kind: MissedKind
    reason: str
