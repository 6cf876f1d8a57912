"""Runs that began under any released version go on under today's code."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from temporalio import workflow
from temporalio.client import WorkflowHistory
from temporalio.worker import Replayer
from temporalio.workflow import NondeterminismError

from tests.child_workflow import Child
from tests.replay.changed_workflow import ChangedJobWorkflow
from tests.replay.record import HISTORIES
from worker.app import SANDBOX
from worker.own_workflows import OWN_WORKFLOWS
from workflows.job import JobWorkflow

TOLD = sorted(HISTORIES.glob("*/told/*.json"))
TOLD_CASES = {"incident", "incident-looked", "notice", "told-failed", "told-succeeded", "watchdog"}
STORED = sorted(HISTORIES.glob("*/*.json"))
CASES = {
    "cancelled",
    "child",
    "child-failed",
    "child-timed-out",
    "child-with-templates",
    "compensated",
    "compensation-cut-short",
    "compensation-failed",
    "cut-short",
    "deadline",
    "late-skipped",
    "late-superseded",
    "late-too-late",
    "retried-then-failed",
    "shadow",
    "steps",
    "steps-cancelled",
    "steps-side-by-side",
    "succeeded",
    "timed-out",
}


def name_of(path: Path) -> str:
    return f"{path.parent.name}/{path.stem}"


def history(path: Path) -> WorkflowHistory:
    text = path.read_text(encoding="utf-8")
    started = json.loads(text)["events"][0]["workflowExecutionStartedEventAttributes"]
    return WorkflowHistory.from_json(started["workflowId"], text)


def test_no_run_pays_for_the_sandbox_of_the_users_workflows() -> None:
    own: list[type] = [JobWorkflow, *OWN_WORKFLOWS]
    definitions = [workflow._Definition.must_from_class(each) for each in own]
    assert [each.name for each in definitions if each.sandboxed] == []


def test_what_tells_people_has_its_histories() -> None:
    assert {path.stem for path in TOLD} >= TOLD_CASES


@pytest.mark.parametrize("path", TOLD, ids=name_of)
async def test_what_tells_people_replays_on_todays_code(path: Path) -> None:
    await Replayer(workflows=[JobWorkflow, *OWN_WORKFLOWS], workflow_runner=SANDBOX).replay_workflow(history(path))


def test_each_version_has_a_history_of_every_way_to_end() -> None:
    versions = {path.parent.name for path in STORED}
    assert "0.1" in versions
    for version in versions:
        assert {path.stem for path in STORED if path.parent.name == version} >= CASES


@pytest.mark.parametrize("path", STORED, ids=name_of)
async def test_a_stored_history_replays_on_todays_code(path: Path) -> None:
    await Replayer(workflows=[JobWorkflow, Child], workflow_runner=SANDBOX).replay_workflow(history(path))


@pytest.mark.parametrize("path", STORED, ids=name_of)
async def test_a_changed_workflow_does_not_replay(path: Path) -> None:
    replayer = Replayer(workflows=[ChangedJobWorkflow, Child], workflow_runner=SANDBOX)
    with pytest.raises(NondeterminismError):
        await replayer.replay_workflow(history(path))
