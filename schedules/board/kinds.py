"""The mark of an occurrence on the board. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, get_args

from activities.account.facts import NOT_RUN, TROUBLE

if TYPE_CHECKING:
    from datetime import datetime

    from activities.account.facts import Verdict
    from schedules.ledger.occurrences import Occurrence

Kind = Literal[
    "failed", "missed", "no_run", "waiting", "running", "due", "cancelled", "paused", "left_out", "succeeded"
]
KINDS: tuple[Kind, ...] = get_args(Kind)
"""Worst first."""
RANK = {kind: rank for rank, kind in enumerate(KINDS)}
WITHOUT_RUN: dict[Verdict, Kind] = {
    "paused": "paused",
    "overlap_skipped": "left_out",
    "superseded": "left_out",
    "skipped": "left_out",
    "used_up": "left_out",
    "buffered": "waiting",
}
HIDDEN: frozenset[Verdict] = frozenset({"before_creation", "not_due_then", "forgotten", "not_yet_due"})
"""Times at which nothing should have run, or of which nothing is known."""


def kind_of(occurrence: Occurrence, late_from: datetime) -> Kind | None:
    """Its mark, None for no mark; what should have started before `late_from` and has not is late.

    `missed` says what is certain: where only `explain` could tell, the mark is `no_run`.
    """
    verdict = occurrence.verdict
    if occurrence.run is not None:
        return run_kind(verdict)
    if verdict in HIDDEN:
        return None
    if verdict == "due":
        return "waiting" if occurrence.scheduled_at < late_from else "due"
    if verdict in {"missed", "too_late"}:
        return "missed" if occurrence.certain else "no_run"
    return WITHOUT_RUN.get(verdict, "no_run")


def run_kind(verdict: Verdict) -> Kind:
    """The mark of an occurrence that has a run."""
    if verdict in TROUBLE:
        return "failed"
    if verdict == "too_late":
        return "missed"
    if verdict in NOT_RUN:
        return "left_out"
    return verdict if verdict in RANK else "no_run"
