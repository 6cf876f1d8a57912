"""The reason that an operator gives."""

from __future__ import annotations

import pytest

from schedules.errors import SettingsError
from schedules.notes import checked_reason


def test_a_reason_has_as_many_characters_as_the_note_has_room_for() -> None:
    assert checked_reason(f" {'x' * 498}\n y ") == "x" * 498 + " y"
    with pytest.raises(SettingsError, match="--reason: 501 characters; write 500 at most"):
        checked_reason("x" * 501)
