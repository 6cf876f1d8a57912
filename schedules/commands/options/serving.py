"""Options of the commands that look at Temporal again and again and serve what they saw."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from schedules.commands.options.specs import at_least
from schedules.errors import SettingsError
from schedules.serve.access import ADDRESS, given_token
from schedules.serve.guard import HOSTS, Guard, given_hosts

if TYPE_CHECKING:
    import argparse
    from datetime import timedelta

USUAL_INTERVAL, USUAL_RATE = "30s", 25


def serving_options(parser: argparse.ArgumentParser, address: str, what: str) -> None:
    """Where to serve `what`, how often to look, and at how many calls a second; `address` is the usual one."""
    parser.add_argument(
        "--address",
        metavar="HOST:PORT",
        help=f"where to serve {what} (default: ${ADDRESS}, else {address})",
    )
    parser.set_defaults(usual_address=address)
    parser.add_argument(
        "--host",
        action="append",
        default=[],
        metavar="NAME",
        help="without a token: a host name that requests may use, besides localhost and plain addresses; may be repeated, "
        f"and is added to ${HOSTS}",
    )
    parser.add_argument(
        "--interval",
        default=USUAL_INTERVAL,
        metavar="D",
        help=f"how often to read Temporal (default: {USUAL_INTERVAL})",
    )
    parser.add_argument(
        "--rate",
        type=at_least(1),
        default=USUAL_RATE,
        metavar="N",
        help=f"most calls of Temporal a second (default: {USUAL_RATE})",
    )


def guard_of(options: argparse.Namespace) -> Guard:
    """Who may read, by the options and the environment. Raises SettingsError."""
    return Guard(given_token(), [*given_hosts(), *options.host])


def address_of(options: argparse.Namespace) -> tuple[str, int]:
    """Host and port. Raises SettingsError."""
    from schedules.text.address import host_and_port

    setting, text = "--address", options.address
    if text is None:
        setting, text = ADDRESS, os.environ.get(ADDRESS, options.usual_address)
    try:
        return host_and_port(text)
    except ValueError as error:
        raise SettingsError(f"{setting}: {error}") from None


def interval_of(options: argparse.Namespace) -> timedelta:
    """A second or more. Raises SettingsError."""
    from datetime import timedelta

    from schedules.text.duration import parse_duration

    try:
        interval = parse_duration(options.interval)
    except ValueError as error:
        raise SettingsError(f"--interval: {error}") from None
    if interval < timedelta(seconds=1):
        raise SettingsError(f"--interval {options.interval}: write 1s or more")
    return interval
