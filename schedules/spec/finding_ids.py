"""All findings of `lint` by id, and how bad each is: `lint.ignore` of a job names them."""

from __future__ import annotations

from typing import Literal, get_args

FindingId = Literal[
    "never-fires",
    "dead-entry",
    "beyond-horizon",
    "ended",
    "fires-rarely",
    "both-day-fields",
    "dst-unspecified",
    "dst-left-out",
    "interval-drift",
    "faster-than-timeout",
    "not-compensated",
    "catch-up-crowd",
    "zone-fixed-offset",
    "nothing-to-move",
    "calendar-unused",
    "label-renamed",
    "command-one-text",
    "command-shell-word",
    "command-variable",
    "shell-pipe",
    "shell-background",
    "template-foreign",
    "crontab-percent",
    "secret-ordinary",
    "watchdog-on-own-queue",
    "crowded",
    "quiet-window",
    "dst-horizon",
    "calendar-horizon",
]

IDS: tuple[FindingId, ...] = get_args(FindingId)
ERRORS: frozenset[FindingId] = frozenset({"never-fires"})
INFOS: frozenset[FindingId] = frozenset(
    {"label-renamed", "watchdog-on-own-queue", "quiet-window", "dst-horizon", "calendar-horizon"}
)
"""What is neither is a warning."""
