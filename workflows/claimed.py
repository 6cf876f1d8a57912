"""A run whose work is done elsewhere: by the command of `tickwright claim`, which says how it ended."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from activities.contract import ClaimEnding, StepResult

if TYPE_CHECKING:
    from activities.contract import Claim, StepOutcome
    from workflows.occurrence import Occurrence

GRACE = timedelta(seconds=90)
"""After an outage of the server the next sign of life needs a moment to arrive."""


class ClaimInbox:
    """What the claim of a run has said so far."""

    def __init__(self) -> None:
        self.signs = 0
        self.ending: ClaimEnding | None = None

    async def ended(self, claim: Claim) -> ClaimEnding | None:
        """How its command ended; None where nothing was heard of it for too long."""
        while self.ending is None:
            if not await self._heard(timedelta(seconds=claim.silence)) and not await self._heard(GRACE):
                return None
        return self.ending

    async def _heard(self, within: timedelta) -> bool:
        signs = self.signs
        try:
            await workflow.wait_condition(lambda: self.signs != signs or self.ending is not None, timeout=within)
        except TimeoutError:
            return False
        return True


async def claimed_step(occurrence: Occurrence, claim: Claim, inbox: ClaimInbox) -> StepResult:
    """The result of the one step of a claimed run, which is also kept with the occurrence."""
    name = occurrence.request.steps[0].name
    workflow.set_current_details(f"Claimed by {claim.by}.")
    ending = await inbox.ended(claim)
    if ending is None:
        reason = f"nothing was heard of {claim.by} any more: whether its command ended, and how, is not known"
        result = StepResult(name, None, 1, (workflow.now() - occurrence.started).total_seconds(), "failed", reason)
    else:
        output = {"exit_code": ending.exit_code, "stdout": ending.stdout, "stderr": ending.stderr}
        result = StepResult(name, output, 1, ending.duration, *_verdict(ending))
    occurrence.results[name] = result
    return result


def _verdict(ending: ClaimEnding) -> tuple[StepOutcome, str]:
    if ending.exit_code == 0:
        return "succeeded", ""
    last = (ending.stderr or ending.stdout).strip().rpartition("\n")[2]
    what = f"signal {-ending.exit_code}" if ending.exit_code < 0 else f"exit code {ending.exit_code}"
    return "failed", f"the claimed command ended with {what}{f': {last}' if last else ''}"
