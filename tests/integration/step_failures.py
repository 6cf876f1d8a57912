"""What a failed attempt tells Temporal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from temporalio.exceptions import ApplicationError

if TYPE_CHECKING:
    from activities.contract import StepCall
    from tests.step_calls import Bench


async def failure_of(made: Bench, call: StepCall) -> ApplicationError:
    """The error that the attempt fails with; no other error hangs on it, in which a secret might be."""
    with pytest.raises(ApplicationError) as failure:
        await made.run(call)
    assert failure.value.__cause__ is None
    assert failure.value.__context__ is None
    return failure.value


def details_of(error: ApplicationError) -> dict[str, Any]:
    """Its one detail."""
    [details] = error.details
    assert isinstance(details, dict)
    return details
