"""Which key the arguments and texts of schedules are to be encrypted with. Pure.

It is a part of the desired schedule, and so of its fingerprint: with another key, or with none, each is written once more.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from schedules.model import Action, DesiredSchedule


def sealed(desired: Mapping[str, DesiredSchedule], key: str) -> dict[str, DesiredSchedule]:
    """The schedules, to be written with the key of this id; empty for no encryption."""
    return {
        name: replace(schedule, encryption=key) if _has_payloads(schedule.action) else schedule
        for name, schedule in desired.items()
    }


def _has_payloads(action: Action) -> bool:
    """A workflow of the user's that is started without arguments and texts has nothing to encrypt."""
    return bool(action.args or action.memo or action.summary or action.details)
