"""The order of steps, on random graphs with random endings."""

from __future__ import annotations

from dataclasses import dataclass, field

from hypothesis import given
from hypothesis import strategies as st

from activities.contract import RetryRequest, StepOutcome, StepRequest, When
from workflows.step_order import Order

WHENS: list[When] = ["on_success", "on_success", "on_success", "on_failure", "always"]
ENDINGS: list[StepOutcome] = ["succeeded", "succeeded", "succeeded", "failed", "timed_out"]


def step(name: str, needs: list[str] | None = None, when: When = "on_success", *, undo: bool = False) -> StepRequest:
    taken_back = StepRequest(f"{name}/undo", "command", {}, 1.0, 1.0) if undo else None
    return StepRequest(name, "command", {}, 1.0, 1.0, RetryRequest(), needs, when, taken_back)


@dataclass
class Played:
    """What became of a run: `began` and `ended` count moments; `seen` are the outcomes known when a step's turn came."""

    order: Order
    began: dict[str, int] = field(default_factory=dict)
    ended: dict[str, int] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)
    seen: dict[str, dict[str, StepOutcome]] = field(default_factory=dict)
    turns: list[str] = field(default_factory=list)


@st.composite
def graphs(draw: st.DrawFn) -> list[StepRequest]:
    """Steps whose needs have no circle, in any order in the list."""
    count = draw(st.integers(1, 8))
    names = [f"s{number}" for number in range(count)]
    steps = []
    for number, name in enumerate(names):
        needs = draw(st.lists(st.sampled_from(names[:number]), unique=True)) if number else []
        steps.append(step(name, needs, draw(st.sampled_from(WHENS)), undo=draw(st.booleans())))
    return draw(st.permutations(steps))


def play(steps: list[StepRequest], data: st.DataObject, *, cancel_at: int | None = None) -> Played:
    """Carries steps out as a run does, ending the running ones in any order; a cancellation ends those it may."""
    played, running, moment = Played(Order(steps)), list[StepRequest](), 0
    while True:
        for due in played.order.due():
            played.turns.append(due.step.name)
            played.seen[due.step.name] = dict(played.order.ended)
            if due.left_out:
                played.left_out[due.step.name] = due.left_out
            else:
                played.began[due.step.name] = moment
                running.append(due.step)
        if not running:
            return played
        moment += 1
        if moment == cancel_at:
            played.order.cancelled = True
        one = running.pop(data.draw(st.integers(0, len(running) - 1)))
        stopped = played.order.cancelled and one.when == "on_success"
        played.order.end(one.name, "cancelled" if stopped else data.draw(st.sampled_from(ENDINGS)))
        played.ended[one.name] = moment


def before(name: str, needs: dict[str, list[str]]) -> set[str]:
    """Everything that a step waits for: by a walk of its own."""
    return set(needs[name]).union(*(before(need, needs) for need in needs[name]))


@given(graphs(), st.data())
def test_each_step_has_its_turn_once_and_after_all_that_it_needs(steps: list[StepRequest], data: st.DataObject) -> None:
    played = play(steps, data)
    assert sorted(played.turns) == sorted(one.name for one in steps)
    for one in steps:
        assert set(one.needs or ()) <= played.seen[one.name].keys()
        if one.name in played.began:
            assert all(played.ended.get(need, 0) <= played.began[one.name] for need in one.needs or ())


@given(graphs(), st.data())
def test_a_step_runs_exactly_if_its_when_holds(steps: list[StepRequest], data: st.DataObject) -> None:
    played = play(steps, data)
    needs = {one.name: list(one.needs or ()) for one in steps}
    for one in steps:
        broken = any(played.order.ended[name] in ("failed", "timed_out") for name in before(one.name, needs))
        assert (one.name in played.began) == {"on_success": not broken, "on_failure": broken, "always": True}[one.when]
        assert (played.order.ended[one.name] == "skipped") == (one.name in played.left_out)


@given(graphs(), st.data())
def test_compensations_are_the_reverse_of_what_succeeded(steps: list[StepRequest], data: st.DataObject) -> None:
    played = play(steps, data)
    undone = [one.name for one in played.order.to_undo]
    succeeded = {one.name for one in steps if one.compensate and played.order.ended[one.name] == "succeeded"}
    assert undone == sorted(succeeded, key=lambda name: -played.ended[name])


@given(graphs(), st.data(), st.integers(1, 4))
def test_a_cancellation_lets_no_step_start_that_needs_success_and_undoes_what_was_stopped(
    steps: list[StepRequest], data: st.DataObject, moment: int
) -> None:
    played = play(steps, data, cancel_at=moment)
    outcomes = played.order.ended
    for one in steps:
        late = played.began.get(one.name, -1) >= moment
        assert not (late and one.when == "on_success")
        assert not (one.when == "always" and one.name in played.left_out)
    undone = [one.name for one in played.order.to_undo]
    stopped_or_done = {one.name for one in steps if one.compensate and outcomes[one.name] in ("succeeded", "cancelled")}
    assert undone == sorted(stopped_or_done, key=lambda name: -played.ended[name])
    kept = "cancelled" in outcomes.values() or "the run was cancelled" in played.left_out.values()
    assert played.order.cut_short == kept
    assert played.order.succeeded == (not kept and not {"failed", "timed_out"} & set(outcomes.values()))


@given(st.lists(st.sampled_from(WHENS), min_size=1, max_size=6), st.data())
def test_without_needs_steps_run_one_after_the_other(whens: list[When], data: st.DataObject) -> None:
    steps = [step(f"s{number}", None, when) for number, when in enumerate(whens)]
    played = play(steps, data)
    assert played.turns == [one.name for one in steps]
    moments = [played.began[name] for name in played.turns if name in played.began]
    assert moments == list(range(len(moments)))
