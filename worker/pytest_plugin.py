"""The fixtures that pytest finds where Tickwright is installed. Temporal is loaded only for tests that ask for them."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from worker.testkit import TestKit


@pytest.fixture(scope="session")
def tickwright() -> Iterator[TestKit]:
    """Runs jobs over spans of scheduled times; see `TestKit.run`. Its server lives as long as the session."""
    from worker.testkit import TestKit

    with TestKit() as kit:
        yield kit


def pytest_assertrepr_compare(op: str, left: Any, right: Any) -> list[str] | None:
    """Under `assert march.outcomes == …` the reasons of those that did not succeed."""
    module = sys.modules.get("worker.testkit.outcome")
    sides = [side for side in (left, right) if module is not None and isinstance(side, module.Outcomes)]
    if op != "==" or not sides:
        return None
    return [f"{dict(left)} == {dict(right)}", *sides[0].explained()]
