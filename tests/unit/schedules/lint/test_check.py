"""What lint finds beyond the models: templates, secrets and handler parameters."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from pydantic import BaseModel

from activities import handler
from activities.registry import HandlerRegistry
from schedules.lint.parameters import check_job
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


STEPS: list[dict[str, Any]] = [
    {"name": "export", "command": ["./export.sh"]},
    {"name": "post", "http": {"url": URL, "json": {"rows": "{steps.export.output.rows}"}}},
    {"name": "tell", "python": {"handler": "cleanup", "params": {"keep_days": "{steps.post.output.body.days}"}}},
]


def steps(**change: Any) -> list[dict[str, Any]]:
    """The steps, the second of them changed."""
    return [STEPS[0], STEPS[1] | change, STEPS[2]]


def test_in_a_shell_text_an_output_is_quoted() -> None:
    texts = [
        {"argv": ["cat '{steps.export.output.rows | sh}'"], "shell": True},
        ["sh", "-c", "a {steps.export.output | sh}"],
    ]
    for text in texts:
        assert places(REGISTRY, run=None, steps=steps(http=None, command=text)) == []


def test_outputs_of_all_steps_before_may_be_used() -> None:
    undo = {"command": ["./undo.sh", "{steps.post.output.body.id}", "{steps.export.output.rows}"]}
    assert places(REGISTRY, run=None, steps=steps(compensate=undo)) == []


@pytest.mark.parametrize(
    ("change", "place", "said"),
    [
        (
            {"http": {"url": URL, "json": ["{steps.tell.output}"]}},
            "steps.1.http.json.0",
            "`tell` is not a step that ends before this one starts; these are: export",
        ),
        (
            {"http": {"url": URL + "/{steps.post.output.id}"}},
            "steps.1.http.url",
            "`post` is not a step that ends before",
        ),
        ({"http": {"url": URL + "/{steps.export.rows}"}}, "steps.1.http.url", "write `{steps.export.output}`"),
        ({"http": {"url": URL + "/{steps.export.output:%F}"}}, "steps.1.http.url", "outputs take no format"),
        (
            {"http": None, "command": {"argv": ["echo '{steps.export.output.name}'"], "shell": True}},
            "steps.1.command.argv.0",
            "write `{steps.export.output.name | sh}`, which is always one word",
        ),
        (
            {"compensate": {"command": ["env", "bash", "-ec", "rm {steps.post.output.body.file}"]}},
            "steps.1.compensate.command.argv.3",
            "write `{steps.post.output.body.file | sh}`",
        ),
        (
            {"http": {"url": URL + "/{steps.export.output.name | sh}"}},
            "steps.1.http.url",
            "this is not a shell text; write `{steps.export.output.name}`",
        ),
        ({"http": {"url": URL, "json": "{attempt}"}}, "steps.1.http.json", "`{attempt}` is not a template here"),
        (
            {"compensate": {"command": ["./undo.sh", "{steps.tell.output}"]}},
            "steps.1.compensate.command.argv.1",
            "these are: export, post",
        ),
        (
            {"compensate": {"python": {"handler": "cleanpu"}}},
            "steps.1.compensate.python.handler",
            "did you mean `cleanup`",
        ),
        (
            {"http": None, "workflow": {"type": "Close"}, "retry": {"backoff": "linear"}},
            "steps.1.retry.backoff",
            "it does not support linear",
        ),
        (
            {"compensate": {"workflow": {"type": "Undo"}, "retry": {"backoff": "linear"}}},
            "steps.1.compensate.retry.backoff",
            "it does not support linear",
        ),
    ],
)
def test_a_fault_of_one_step_is_told_at_that_step(change: dict[str, Any], place: str, said: str) -> None:
    [(path, message)] = check_job(job(run=None, steps=steps(**change)), REGISTRY)
    assert ".".join(map(str, path)) == place
    assert said in message


def test_steps_side_by_side_do_not_know_each_others_outputs() -> None:
    side_by_side = steps(needs=[])
    [(path, message)] = check_job(job(run=None, steps=[*side_by_side[:2], STEPS[2] | {"needs": ["post"]}]), REGISTRY)
    assert (path, "no step ends before this one starts" in message) == (("steps", 1, "http", "json", "rows"), True)


def test_a_job_of_one_step_has_no_outputs_to_use() -> None:
    [(path, message)] = check_job(job(run={"command": ["echo", "{steps.run.output}"]}))
    assert (path[0], "no step ends before this one starts" in message) == ("run", True)


def test_the_last_success_is_not_known_where_runs_go_on_side_by_side() -> None:
    run = {"command": ["./sync.sh", "{last_success:%s}"]}
    assert places(run=run) == []
    [(_, message)] = check_job(job(run=run, overlap="allow_all"))
    assert message.startswith("`last_success` is not known if runs may overlap")


def test_a_job_that_runs_once_has_no_last_success() -> None:
    [(_, message)] = check_job(job(run={"command": ["a", "{last_success}"]}, schedule={"at": "2027-03-01T09:00"}))
    assert message.startswith("`last_success` is an earlier scheduled time")
