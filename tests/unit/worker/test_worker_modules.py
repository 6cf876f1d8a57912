"""The user's modules: what a worker takes from them, and what it refuses."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent
from uuid import uuid4

import pytest

from schedules.errors import SettingsError
from worker.app import Offer

WORKFLOW = """
    from temporalio import workflow

    @workflow.defn(name="{name}")
    class {kind}:
        @workflow.run
        async def run(self) -> None: ...
"""
HANDLER = """
    from activities import handler

    @handler("{name}")
    def {function}() -> None: ...
"""
ACTIVITY = """
    from temporalio import activity

    @activity.defn(name="{name}")
    async def {function}() -> None: ...
"""


class Modules:
    """Writes modules into the current folder; their names are new each time, as imports are kept."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def write(self, code: str, **names: str) -> str:
        name = f"jobs_{uuid4().hex}"
        text = dedent(code)
        (self._folder / f"{name}.py").write_text(text.format(**names) if names else text, encoding="utf-8")
        return name


@pytest.fixture
def modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Modules:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    return Modules(tmp_path)


def refusal(*names: str) -> str:
    with pytest.raises(SettingsError) as refused:
        Offer.of(names)
    assert refused.value.exit_code == 2
    return str(refused.value)


def test_without_modules_there_is_the_job_workflow_alone() -> None:
    offer = Offer.of(())
    assert [workflow.__name__ for workflow in offer.workflows] == ["JobWorkflow"]
    assert offer.handlers.names == []
    assert offer.activities == []


def test_a_module_brings_handlers_workflows_and_activities(modules: Modules) -> None:
    offer = Offer.of(
        [
            modules.write(HANDLER, name="clean-up", function="clean"),
            modules.write(WORKFLOW, name="Settle", kind="Settle"),
            modules.write(ACTIVITY, name="book", function="book"),
        ]
    )
    assert offer.handlers.names == ["clean-up"]
    assert [workflow.__name__ for workflow in offer.workflows] == ["JobWorkflow", "Settle"]
    assert [activity.__name__ for activity in offer.activities] == ["book"]


def test_what_two_modules_import_from_a_third_is_one_thing(modules: Modules) -> None:
    origin = modules.write(WORKFLOW, name="Settle", kind="Settle")
    importers = [modules.write(f"from {origin} import Settle") for _ in range(2)]
    assert len(Offer.of([*importers, origin]).workflows) == 2


def test_every_module_that_cannot_be_imported_is_named(modules: Modules) -> None:
    broken = modules.write("1 / 0")
    leaving = modules.write("raise SystemExit(3)")
    wrong = modules.write("def (")
    told = refusal("no_such_module_here", broken, leaving, wrong, ".relative").splitlines()
    assert [line.split()[1] for line in told] == ["no_such_module_here", broken, leaving, wrong, ".relative"]
    assert "ModuleNotFoundError: No module named 'no_such_module_here'" in told[0]
    assert "ZeroDivisionError: division by zero" in told[1]
    assert "SystemExit: 3" in told[2]


def test_two_handlers_of_one_name_are_refused_with_both_places(modules: Modules) -> None:
    names = [modules.write(HANDLER, name="clean-up", function=function) for function in ("one", "two")]
    told = refusal(*names)
    assert "`clean-up` is defined twice" in told
    assert f"{names[0]}.one" in told
    assert f"{names[1]}.two" in told


def test_two_workflows_of_one_name_are_refused_with_both_places(modules: Modules) -> None:
    names = [modules.write(WORKFLOW, name="Settle", kind=kind) for kind in ("One", "Two")]
    told = refusal(*names)
    assert told == (
        f"TICKWRIGHT_MODULES: two workflows are called Settle: {names[0]}.One and {names[1]}.Two; rename one"
    )


def test_a_workflow_cannot_take_the_place_of_ours(modules: Modules) -> None:
    name = modules.write(WORKFLOW, name="JobWorkflow", kind="Mine")
    assert f"two workflows are called JobWorkflow: workflows.job.JobWorkflow and {name}.Mine" in refusal(name)


def test_two_activities_of_one_name_are_refused(modules: Modules) -> None:
    names = [modules.write(ACTIVITY, name="book", function=function) for function in ("one", "two")]
    assert f"two activities are called book: {names[0]}.one and {names[1]}.two" in refusal(*names)


@pytest.mark.parametrize("taken", ["run_step", "render_arguments"])
def test_an_activity_cannot_take_the_place_of_ours(modules: Modules, taken: str) -> None:
    name = modules.write(ACTIVITY, name=taken, function="mine")
    assert refusal(name) == f"TICKWRIGHT_MODULES: {name}.mine: activity name {taken} is taken; choose another"
