"""The workflows and activities that the user's own modules offer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from activities.contract import (
    ASK_FOR_OCCURRENCE,
    DECIDE_LATE_START,
    DESCRIBE_OFFER,
    LOOK_AT_OCCURRENCE,
    RENDER_ARGUMENTS,
    RESUME_SCHEDULE,
    RUN_STEP,
    START_REBOOT_RUNS,
)
from activities.notices.contract import LOOK_FOR_MISSED, REPORT_ENDING, SEND_NOTICE, SEND_PING, TEND_SCHEDULE
from schedules.errors import SettingsError
from workflows.job import JobWorkflow

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from types import ModuleType

WORKFLOW = "__temporal_workflow_definition"
OWN_ACTIVITIES = frozenset(
    {
        RUN_STEP,
        RENDER_ARGUMENTS,
        DESCRIBE_OFFER,
        START_REBOOT_RUNS,
        DECIDE_LATE_START,
        REPORT_ENDING,
        TEND_SCHEDULE,
        SEND_NOTICE,
        SEND_PING,
        LOOK_FOR_MISSED,
        LOOK_AT_OCCURRENCE,
        ASK_FOR_OCCURRENCE,
        RESUME_SCHEDULE,
    }
)
"""Of the worker itself."""
ACTIVITY = "__temporal_activity_definition"


def find_workflows(modules: Sequence[ModuleType]) -> list[type[Any]]:
    """JobWorkflow and the workflows of the modules. Raises SettingsError where two share a type name."""
    found: dict[str, type[Any]] = {JobWorkflow.__name__: JobWorkflow}
    for name, value in _defined(modules, WORKFLOW):
        if isinstance(value, type):
            _add(found, name, value, "workflows")
    return list(found.values())


def find_activities(modules: Sequence[ModuleType]) -> list[Callable[..., Any]]:
    """The activities of the modules, for their own workflows. Raises SettingsError where two share a name, or one has ours."""
    found: dict[str, Callable[..., Any]] = {}
    for name, value in _defined(modules, ACTIVITY):
        if name in OWN_ACTIVITIES:
            raise SettingsError(f"TICKWRIGHT_MODULES: {_place(value)}: activity name {name} is taken; choose another")
        _add(found, name, value, "activities")
    return list(found.values())


def type_name(workflow: type[Any]) -> str:
    """The type under which a workflow is started."""
    return str(vars(workflow)[WORKFLOW].name)


def _defined(modules: Sequence[ModuleType], mark: str) -> Iterator[tuple[str, Any]]:
    """Type names and values of what carries the SDK's mark; a dynamic definition has no name, and no run asks for it."""
    for module in modules:
        for value in vars(module).values():
            definition = getattr(value, "__dict__", {}).get(mark)
            if name := getattr(definition, "name", None):
                yield name, value


def _add(found: dict[str, Any], name: str, value: Any, what: str) -> None:
    other = found.setdefault(name, value)
    if other is not value:
        places = f"{_place(other)} and {_place(value)}"
        raise SettingsError(f"TICKWRIGHT_MODULES: two {what} are called {name}: {places}; rename one")


def _place(value: Any) -> str:
    return f"{value.__module__}.{value.__qualname__}"
