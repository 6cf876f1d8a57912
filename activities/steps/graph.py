"""The order of steps: those that must have ended before another starts. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from activities.contract import StepRequest


def needs_of(steps: Sequence[StepRequest]) -> dict[str, list[str]]:
    """By step what must have ended before it; where a step does not say, the one before it in the list."""
    before: list[str] = []
    found = {}
    for step in steps:
        found[step.name] = before if step.needs is None else step.needs
        before = [step.name]
    return found


def ancestors(name: str, needs: Mapping[str, Sequence[str]]) -> frozenset[str]:
    """All steps that must have ended before, however far back."""
    found: dict[str, None] = {}
    waiting = list(needs[name])
    while waiting:
        if (one := waiting.pop()) not in found:
            found[one] = None
            waiting += needs.get(one, ())
    return frozenset(found)
