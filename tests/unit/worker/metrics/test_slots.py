"""What is said of the places for steps."""

from __future__ import annotations

from worker.metrics.slots import Slots


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_only_places_that_have_all_been_taken_for_a_minute_are_worth_a_word() -> None:
    clock = Clock()
    slots = Slots(2, clock)
    slots.take()
    clock.now = 100
    assert slots.remark() == ""
    slots.take()
    clock.now = 159.9
    assert slots.remark() == ""
    clock.now = 175
    assert slots.remark() == "all 2 places for steps have been taken for 75 s; other steps wait"
    slots.give_back()
    assert slots.remark() == ""
    slots.take()
    assert slots.remark() == ""
