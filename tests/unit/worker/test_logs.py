"""Log lines: one form for all, the run's fields on each, secrets on none."""

from __future__ import annotations

import io
import json
import logging
import warnings
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest
import structlog
from pydantic import BaseModel

from activities import JobContext, handler
from tests.step_calls import bench, step_call
from worker.logs import configure_logs

SECRET = "open-sesame-4711"


class Params(BaseModel):
    """Of the handler that logs too much."""

    token: str


class Log(io.StringIO):
    """What has been logged."""

    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.getvalue().splitlines()]


@pytest.fixture
def log() -> Iterator[Log]:
    """A place to log to; afterwards logging is as it was."""
    root, attempts = logging.getLogger(), logging.getLogger("temporalio.activity")
    before = root.handlers[:], root.level, attempts.level
    yield Log()
    root.handlers[:], root.level, attempts.level = before
    logging.captureWarnings(capture=False)
    structlog.reset_defaults()


def test_json_has_one_object_a_line(log: Log) -> None:
    configure_logs("json", "info", log)
    structlog.get_logger().info("polling\nnow", action="worker_started", task_queue="tickwright")
    [line] = log.lines()
    assert {"timestamp", "logger"} <= line.keys()
    assert line | {"timestamp": "", "logger": ""} == {
        "event": "polling\nnow",
        "action": "worker_started",
        "task_queue": "tickwright",
        "level": "info",
        "timestamp": "",
        "logger": "",
    }


def test_console_has_words_and_no_json(log: Log) -> None:
    configure_logs("console", "info", log)
    structlog.get_logger().info("polling", action="worker_started")
    assert "polling" in log.getvalue()
    assert "worker_started" in log.getvalue()
    assert "{" not in log.getvalue()


def test_without_a_terminal_the_form_is_json(log: Log) -> None:
    configure_logs(None, "info", log)
    structlog.get_logger().info("polling")
    assert [line["event"] for line in log.lines()] == ["polling"]


def test_lines_below_the_level_are_not_written(log: Log) -> None:
    configure_logs("json", "warning", log)
    structlog.get_logger().info("quiet")
    logging.getLogger("of.a.library").info("quiet")
    structlog.get_logger().warning("heard")
    assert [line["event"] for line in log.lines()] == ["heard"]


def test_lines_of_libraries_and_warnings_have_the_same_form(log: Log) -> None:
    configure_logs("json", "info", log)
    logging.getLogger("of.a.library").info("hello %s", "you", extra={"shelf": 3})
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.warn("old", DeprecationWarning, stacklevel=1)
    first, second = log.lines()
    assert (first["event"], first["logger"], first["shelf"]) == ("hello you", "of.a.library", 3)
    assert "DeprecationWarning: old" in second["event"]


def test_an_exception_is_part_of_its_json_line_without_local_variables(log: Log) -> None:
    configure_logs("json", "info", log)
    hidden = SECRET[::-1]
    try:
        int("x" + hidden[:0])
    except ValueError:
        structlog.get_logger().exception("broke")
    [line] = log.lines()
    assert line["exception"][0]["exc_type"] == "ValueError"
    assert hidden not in log.getvalue()


RUN_FIELDS = {
    "job": "invoice-dunning",
    "scheduled_time": "2027-03-01T13:00:00Z",
    "run_id": "run-id-1",
    "step": "run",
    "attempt": 2,
}


async def test_every_line_of_a_run_carries_its_fields(log: Log) -> None:
    configure_logs("json", "info", log)
    async with bench() as steps:
        steps.at_attempt(2)
        await steps.run(step_call("command", {"argv": ["true"]}))
    assert [line["action"] for line in log.lines()] == ["step_started", "step_finished"]
    for line in log.lines():
        assert RUN_FIELDS.items() <= line.items()


@pytest.mark.parametrize("form", ["json", "console"])
async def test_a_secret_is_on_no_line_of_a_step_that_uses_it(log: Log, form: str) -> None:
    """Neither on ours nor on those of the step's own function, of a library in it, or in a traceback."""
    configure_logs(form, "debug", log)
    async with bench(_telltale(), secrets={"TOKEN": SECRET}) as steps:
        await steps.run(step_call("python", {"handler": "telltale", "params": {"token": "${secret:TOKEN}"}}))
    assert SECRET not in log.getvalue()
    assert log.getvalue().count("***") >= 4, "the lines are there, with marks in the secret's place"


def _telltale() -> ModuleType:
    """A module with a handler that logs its secret in every way there is."""

    @handler("telltale")
    def telltale(params: Params, context: JobContext) -> None:
        context.logger.info("got %s", params.token)
        context.logger.info("token", token=params.token, more={"deep": [params.token]})
        logging.getLogger("of.a.library").warning("header: %s", params.token)
        try:
            {"other": 1}[params.token]
        except KeyError:
            logging.getLogger("of.a.library").exception("broke")
            context.logger.exception("broke")

    module = ModuleType("telltale_jobs")
    module.telltale = telltale  # type: ignore[attr-defined]  # a module made by hand
    return module
