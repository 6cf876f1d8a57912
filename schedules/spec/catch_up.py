"""The spec format's words about runs that were missed, and which of them contradict the others of a job."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from pydantic import Field, model_validator

from activities.contract import CatchUpPolicy
from activities.overlap import overlap_policy
from schedules.spec.fields import FieldError, Spec
from schedules.text.duration import format_duration

if TYPE_CHECKING:
    from schedules.spec.job import JobSpec

MOST_MISSED = 500
IN_ORDER = "buffer_all"
"""The overlap policy under which several missed runs go one after another."""


class CatchUpSpec(Spec):
    """What happens to missed runs: those that could not start on time because the server or every worker was away."""

    policy: CatchUpPolicy = Field(
        default="run_latest",
        description="`skip` runs none of them, `run_latest` the newest, `run_all` the newest `max_missed`, oldest first.",
    )
    max_missed: int | None = Field(
        default=None,
        ge=1,
        le=MOST_MISSED,
        description="How many of the newest run; `run_all` needs it, and `null` takes back a default.",
    )

    @model_validator(mode="after")
    def _number_with_run_all(self) -> Self:
        if self.policy == "run_all" and self.max_missed is None:
            raise FieldError(
                "policy", f"run_all needs a limit; write max_missed: 3, or another number up to {MOST_MISSED}"
            )
        if self.policy != "run_all" and self.max_missed is not None:
            advice = "remove it (`null` takes back a default), or write policy: run_all"
            raise FieldError("max_missed", f"{self.max_missed} has no effect with policy: {self.policy}; {advice}")
        return self


def check_catch_up(job: JobSpec) -> None:
    """Raises FieldError for what a job says about late starts and cannot keep."""
    if job.direct and job.catchup is not None:
        raise FieldError("catchup", _UNDECIDED.format(key="catchup"))
    if job.direct and job.start_deadline is not None:
        raise FieldError("start_deadline", _UNDECIDED.format(key="start_deadline"))
    if job.catchup and job.catchup.policy == "run_all" and not overlap_policy(job.overlap).keeps_all:
        raise FieldError("catchup.policy", _contradiction(job.overlap))
    if job.start_deadline is not None and job.start_deadline <= job.jitter:
        deadline, jitter = format_duration(job.start_deadline), format_duration(job.jitter)
        raise FieldError(
            "start_deadline", f"{deadline} may be over before a start (jitter: {jitter}); write more than {jitter}"
        )


_UNDECIDED = (
    "does not work for a workflow that the schedule starts itself (direct); remove it or write `{key}: null`, and use "
    "direct.catchup_window with an overlap; or run the workflow without `direct`"
)
_KEPT = {
    "skip": "keeps no run waiting",
    "buffer_one": "keeps one run waiting",
    "cancel_other": "cancels the run before",
    "terminate_other": "terminates the run before",
}


def _contradiction(overlap: str) -> str:
    return (
        f"run_all contradicts overlap: {overlap}, which {_KEPT[overlap]}; write overlap: {IN_ORDER}, so that they run one after "
        "another; or write policy: run_latest"
    )
