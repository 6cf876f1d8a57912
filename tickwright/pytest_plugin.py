"""What pytest finds where Tickwright is installed. Temporal is loaded only for tests that ask for the fixture."""

from __future__ import annotations

import asyncio
import sys
from inspect import iscoroutinefunction, signature
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from worker.testkit import TestKit

FIXTURE = "tickwright"


@pytest.fixture(scope="session")
def tickwright() -> Iterator[TestKit]:
    """Runs jobs over spans of scheduled times; see `TestKit.run`. Its server lives as long as the session."""
    from tickwright import TestKit

    with TestKit() as kit:
        yield kit


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Runs a coroutine that asks for the fixture and that no other plugin has taken on."""
    taken_on = type(pyfuncitem) is not pytest.Function or any(map(pyfuncitem.get_closest_marker, ("asyncio", "anyio")))
    if taken_on or FIXTURE not in pyfuncitem.fixturenames or not iscoroutinefunction(pyfuncitem.obj):
        return None
    values = {name: pyfuncitem.funcargs[name] for name in signature(pyfuncitem.obj).parameters}
    asyncio.run(pyfuncitem.obj(**values))
    return True


def pytest_assertrepr_compare(op: str, left: Any, right: Any) -> list[str] | None:
    """Under `assert march.outcomes == …` the reasons of those that did not succeed."""
    module = sys.modules.get("worker.testkit.outcome")
    sides = [side for side in (left, right) if module is not None and isinstance(side, module.Outcomes)]
    if op != "==" or not sides:
        return None
    return [f"{dict(left)} == {dict(right)}", *sides[0].explained()]
