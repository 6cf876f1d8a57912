"""Backfills and timed pauses that began under any released version go on under today's code."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from temporalio.client import WorkflowHistory
from temporalio.worker import Replayer

from tests.replay.record_operating import HISTORIES, WORKFLOWS
from worker.app import SANDBOX

STORED = sorted(HISTORIES.glob("*/*.json"))
CASES = {"again", "cancelled", "failed", "left-alone", "resumed", "side-by-side", "succeeded"}


def test_each_version_has_a_history_of_every_way_to_end() -> None:
    versions = {path.parent.name for path in STORED}
    assert "0.1" in versions
    for version in versions:
        assert {path.stem for path in STORED if path.parent.name == version} == CASES


def history(path: Path) -> WorkflowHistory:
    text = path.read_text(encoding="utf-8")
    started = json.loads(text)["events"][0]["workflowExecutionStartedEventAttributes"]
    return WorkflowHistory.from_json(started["workflowId"], text)


@pytest.mark.parametrize("path", STORED, ids=lambda path: f"{path.parent.name}/{path.stem}")
async def test_a_stored_history_replays_on_todays_code(path: Path) -> None:
    await Replayer(workflows=[*WORKFLOWS], workflow_runner=SANDBOX).replay_workflow(history(path))
