"""The wire format is read as the SDK reads it."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import pytest
from temporalio.api.common.v1 import Payload
from temporalio.converter import DataConverter

from activities import contract
from activities.contract import (
    CatchUpRequest,
    ChildOutput,
    Handover,
    JobRequest,
    JobResult,
    LastSuccess,
    NotRun,
    RetryRequest,
    StepCall,
    StepRequest,
    StepResult,
    TimesRequest,
    WorkerOffer,
)
from activities.converter import WirePayloadConverter

USUAL, OURS = DataConverter.default.payload_converter, WirePayloadConverter()
TIMES = TimesRequest("Europe/Berlin", ["0 0 8 * * 1-5 *"], [[300, 30]])
UNDO = StepRequest("post/undo", "http", {"url": "https://x.internal"}, 5, 30.0)
STEP = StepRequest(
    "post",
    "python",
    {"handler": "x", "params": {"a": [1, 2.5, None, True, "é"]}},
    5.0,
    30,
    RetryRequest(3),
    ["a"],
    "always",
    UNDO,
)
VALUES: list[Any] = [
    JobRequest("p", "e", "j", TIMES, [STEP, UNDO]),
    JobRequest(
        "p",
        "e",
        "j",
        TIMES,
        [STEP],
        3600,
        CatchUpRequest("run_all", "allow_all", 1.5, 60),
        True,
        Handover("x", LastSuccess("t", {"a": 1})),
    ),
    StepCall("p", "e", "j", "t", TIMES, STEP, "r", 2, [{"seen": 3}], {"a": None}, LastSuccess("t")),
    StepResult("a", {"rows": [1]}, None, 0),
    JobResult(
        "too_late",
        "t",
        1,
        2.0,
        None,
        [StepResult("a", "x", 1, 0.5)],
        "late",
        LastSuccess("t"),
        "t",
        NotRun(2, "a", "b", "c"),
    ),
    WorkerOffer(["a"], []),
]


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_it_reads_what_the_sdk_has_written_and_the_other_way_round(value: Any) -> None:
    kind = type(value)
    for writer, reader in ((USUAL, OURS), (OURS, USUAL), (OURS, OURS)):
        assert reader.from_payloads(writer.to_payloads([value]), [kind]) == [value]
    assert OURS.to_payloads([value]) == USUAL.to_payloads([value])


def payload(value: Any) -> Payload:
    return Payload(metadata={"encoding": b"json/plain"}, data=json.dumps(value).encode())


def test_fields_of_a_later_release_are_left_out() -> None:
    later = {"timezone": "UTC", "moons": 2}
    assert OURS.from_payload(payload(later), TimesRequest) == USUAL.from_payload(payload(later), TimesRequest)


@pytest.mark.parametrize("wrong", [{}, {"timezone": 3}, [], "UTC", None], ids=str)
def test_what_does_not_fit_is_refused(wrong: Any) -> None:
    with pytest.raises((ValueError, TypeError)):
        OURS.from_payload(payload(wrong), TimesRequest)


def test_other_types_are_read_by_the_sdk() -> None:
    @dataclasses.dataclass
    class Mine:
        at: str

    assert OURS.from_payload(payload({"at": "x"}), Mine) == Mine("x")
    assert OURS.from_payload(payload([1, "a", None])) == [1, "a", None]
    assert OURS.from_payloads(OURS.to_payloads([None, b"x"]), [type(None), bytes]) == [None, b"x"]


def test_every_dataclass_of_the_contract_can_be_read() -> None:
    kinds = [
        each
        for each in vars(contract).values()
        if dataclasses.is_dataclass(each) and each.__module__ == contract.__name__ and each is not StepResult
    ]
    assert len(kinds) > 10
    for kind in kinds:
        with pytest.raises(ValueError, match="validation error"):
            OURS.from_payload(payload([]), kind)  # type: ignore[arg-type]  # a dataclass is a type


def test_what_a_step_gave_back_and_nobody_can_read_is_a_failure_of_that_step() -> None:
    """Raised, it would fail the run's workflow task, which the server then tries for ever."""
    unknown = Payload(metadata={"encoding": b"binary/of-tomorrow"}, data=b"x")
    for unreadable in (payload([]), payload({"name": 3}), unknown, Payload(metadata=payload(1).metadata, data=b"{")):
        [result] = OURS.from_payloads([unreadable], [StepResult])
        assert (result.outcome, result.output) == ("failed", None)
        assert result.reason.startswith("its result cannot be read: ")
    [child] = OURS.from_payloads([unknown], [ChildOutput])
    assert "of-tomorrow" in child
    assert OURS.from_payloads([payload({"a": [1]})], [ChildOutput]) == [{"a": [1]}]
    with pytest.raises(KeyError):
        OURS.from_payloads([unknown], [dict])


def test_json_that_the_fast_parser_refuses_is_read_and_made_clean() -> None:
    deep = json.loads("[" * 250 + "]" * 250)
    written = payload(dataclasses.asdict(StepResult("a", {"half": "\ud83d", "deep": deep}, 1, 0.5)))
    [read] = OURS.from_payloads([written], [StepResult])
    assert (read.name, read.outcome, read.output["half"]) == ("a", "succeeded", "\ufffd")
    assert "not kept" in json.dumps(read.output["deep"])
