"""What lint finds beyond the models: templates, secrets and handler parameters."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from pydantic import BaseModel

from activities import handler
from activities.registry import HandlerRegistry
from schedules.check import check_job
from tests.factories import job

URL = "https://billing.internal/x"


class Cleanup(BaseModel):
    keep_days: int


@handler("cleanup")
def cleanup(params: Cleanup) -> None:
    """Nothing."""


REGISTRY = HandlerRegistry.from_modules([SimpleNamespace(cleanup=cleanup)])  # type: ignore[list-item]  # a module made by hand


def places(registry: HandlerRegistry | None = None, **fields: Any) -> list[str]:
    return [".".join(map(str, path)) for path, _ in check_job(job(**fields), registry)]


@pytest.mark.parametrize(
    ("run", "place"),
    [
        ({"command": ["echo", "{scheduled}"]}, "run.command.argv.1"),
        ({"command": {"argv": ["awk '{print $1}'"], "shell": True}}, "run.command.argv.0"),
        ({"command": {"argv": ["true"], "env": {"A": "{nope}"}}}, "run.command.env.A"),
        ({"http": {"url": URL, "json": {"rows": [{"day": "{day}"}]}}}, "run.http.json.rows.0.day"),
        ({"http": {"url": URL, "headers": {"X-Day": "{scheduled_at.year}"}}}, "run.http.headers.X-Day"),
        ({"python": {"handler": "cleanup", "params": {"keep_days": "{nope}"}}}, "run.python.params.keep_days"),
        ({"workflow": {"type": "Close", "args": ["{nope}"]}}, "run.workflow.args.0"),
    ],
)
def test_a_template_of_an_unknown_name_is_found_at_its_place(run: dict[str, Any], place: str) -> None:
    assert places(run=run) == [place]


def test_what_goes_under_an_idempotency_key_may_not_tell_the_attempt() -> None:
    assert places(run={"http": {"url": URL, "json": {"try": "{attempt}"}}}) == ["run.http.json.try"]
    assert places(run={"http": {"url": URL, "headers": {"X-Try": "{attempt}"}}}) == []


def test_arguments_of_a_workflow_hold_neither_secret_nor_attempt() -> None:
    assert places(run={"workflow": {"type": "Close", "args": ["${secret:TOKEN}"]}}) == ["run.workflow.args.0"]
    assert places(run={"workflow": {"type": "Close", "args": ["{attempt}"]}}) == ["run.workflow.args.0"]


def test_a_workflow_cannot_be_retried_linearly() -> None:
    retry = {"max_attempts": 3, "backoff": "linear"}
    assert places(run={"workflow": {"type": "Close"}}, retry=retry) == ["retry.backoff"]
    assert places(run={"command": ["true"]}, retry=retry) == []


def test_a_job_that_runs_once_has_no_scheduled_time_before() -> None:
    run = {"command": ["export", "{interval_start:%F}"]}
    assert places(run=run, schedule={"at": "2027-03-01T09:00"}) == ["run.command"]
    assert places(run=run, schedule=[{"at": "2027-03-01T09:00"}, "@daily"]) == []


def test_parameters_of_a_python_handler_are_checked_once_its_module_is_given() -> None:
    run = {"python": {"handler": "cleanup", "params": {"keep_days": "many"}}}
    assert places(run=run) == []
    assert places(REGISTRY, run=run) == ["run.python.params.keep_days"]
    assert places(REGISTRY, run={"python": {"handler": "clean"}}) == ["run.python.handler"]
    assert places(REGISTRY, run={"python": {"handler": "cleanup", "params": {"keep_days": 7}}}) == []
