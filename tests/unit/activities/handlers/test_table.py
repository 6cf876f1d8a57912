"""A handler is its model in the spec's table and the module of its name; a module alone makes a kind that runs."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

import pytest

from activities.errors import HandlerError
from activities.handlers.calls import Calls
from activities.handlers.session import LateSession
from activities.handlers.table import Handlers, Parts
from activities.registry import HandlerRegistry
from schedules.spec.handlers import KINDS
from schedules.spec.reference import SECTIONS


@pytest.fixture
def handlers() -> Handlers:
    return Handlers(Parts(HandlerRegistry(), Calls(), LateSession(), allow_commands=False, workflows=["Reconcile"]))


@pytest.mark.parametrize(
    ("kind", "params", "problem"),
    [
        ("http", {"url": "http://127.0.0.1/"}, ""),
        ("command", {"argv": ["true"]}, "commands are not allowed on this worker"),
        ("python", {"handler": "export"}, "there is no handler `export`; the registered handlers are: none"),
        ("workflow", {"type": "Reconcile"}, ""),
        ("container", {"image": "report:1"}, "containers are not allowed on this worker"),
        (
            "kubernetes",
            {"namespace": "reports", "image": "report:1"},
            "Jobs in the namespace `reports` are not allowed",
        ),
        ("sql", {"connection": "${secret:DB}", "statement": "SELECT 1"}, ""),
        ("workflow", {"type": "Settle"}, "no workflow type `Settle` on this worker"),
    ],
)
def test_each_handler_says_whether_its_worker_can_run_a_step(
    handlers: Handlers, kind: str, params: dict[str, Any], problem: str
) -> None:
    assert handlers.of(kind).problem(params).startswith(problem)
    assert bool(handlers.of(kind).problem(params)) == bool(problem)


@pytest.mark.parametrize("kind", KINDS)
def test_each_key_of_the_table_has_a_runner_and_a_place_in_the_reference(handlers: Handlers, kind: str) -> None:
    assert handlers.of(kind) is handlers.of(kind)
    assert KINDS[kind].__name__ in SECTIONS


@pytest.mark.parametrize("kind", ["ftp", "calls", "table", "http.x", "", "../http"])
def test_a_name_without_a_handler_is_refused_for_good(handlers: Handlers, kind: str) -> None:
    with pytest.raises(HandlerError) as caught:
        handlers.of(kind)
    assert (caught.value.message, caught.value.permanent) == (f"this worker has no handler `{kind}`", True)


def test_a_module_of_its_name_is_all_that_a_worker_needs_of_a_kind(
    handlers: Handlers, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Ftp:
        def __init__(self, parts: Parts) -> None:
            self.parts = parts

    module = ModuleType("activities.handlers.ftp")
    module.HANDLER = Ftp  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, module.__name__, module)
    assert isinstance(handlers.of("ftp"), Ftp)
