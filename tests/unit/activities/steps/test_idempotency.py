"""The idempotency key."""

from __future__ import annotations

from dataclasses import replace

from activities.idempotency import idempotency_key
from tests.step_calls import step_call


def test_key_is_readable() -> None:
    assert idempotency_key(step_call()) == "billing/production/invoice-dunning/2027-03-01T13:00:00Z/run"


def test_key_does_not_depend_on_the_run_or_the_parameters() -> None:
    call = step_call()
    other = replace(call, run_id="other", step=replace(call.step, params={"x": 1}, timeout=1.0))
    assert idempotency_key(other) == idempotency_key(call)


def test_every_part_of_the_identity_makes_another_key() -> None:
    call = step_call()
    others = [
        replace(call, project="p"),
        replace(call, environment="e"),
        replace(call, job="j"),
        replace(call, scheduled_at="2027-03-02T13:00:00Z"),
        replace(call, step=replace(call.step, name="s")),
    ]
    assert len({idempotency_key(one) for one in [call, *others]}) == 6


def test_a_slash_in_a_name_cannot_imitate_another_step() -> None:
    call = step_call()
    assert idempotency_key(replace(call, project="a/b", environment="c")) != idempotency_key(
        replace(call, project="a", environment="b/c")
    )


def test_key_is_ascii_and_bounded() -> None:
    long = [idempotency_key(replace(step_call(), job="ü" * 300 + end)) for end in "ab"]
    assert all(len(key) == 200 and key.isascii() and key.startswith("billing/production/%C3%BC") for key in long)
    assert long[0] != long[1]


def test_a_key_that_just_fits_stays_as_it_is() -> None:
    room = 200 - len(idempotency_key(replace(step_call(), job="")))
    fits, longer = (idempotency_key(replace(step_call(), job="j" * length)) for length in (room, room + 1))
    assert (len(fits), "~" in fits) == (200, False)
    assert (len(longer), "~" in longer) == (200, True)
