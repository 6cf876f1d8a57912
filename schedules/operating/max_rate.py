"""`--max-rate 6/m`. Pure."""

from __future__ import annotations

import re

from schedules.errors import SettingsError

_RATE = re.compile(r"([0-9]{1,6})/([smh])")
SECONDS = {"s": 1, "m": 60, "h": 3600}


def seconds_between(text: str | None) -> float:
    """The least distance between two starts; 0 without a rate. Raises SettingsError."""
    if text is None:
        return 0.0
    found = _RATE.fullmatch(text.strip())
    if found is None or int(found[1]) == 0:
        raise SettingsError(f"--max-rate {text}: write starts per second, minute or hour, for example 30/m")
    return SECONDS[found[2]] / int(found[1])
