"""Output of a run's steps, as text and as JSON. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from activities.contract import RUN_STEP
from activities.occurrence import stamp
from schedules.ledger.attempt_output import READ
from schedules.text.shown import output_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from activities.account.facts import Run
    from schedules.ledger.attempt_output import Printed
    from schedules.ledger.story import StepStory, Story

WORKFLOW = "workflow"
LAST_LINES = 3
Key = tuple[str, int, str]
"""Step, attempt and stream."""


def steps_of(story: Story, only: str = "") -> list[StepStory]:
    """The steps of the job among all that the run did, or the one of that name."""
    steps = [step for step in story.steps if step.kind in {RUN_STEP, WORKFLOW}]
    return [step for step in steps if not only or _name(step) == only]


def step_names(story: Story) -> list[str]:
    """The names of the steps that have begun."""
    return list(dict.fromkeys(map(_name, steps_of(story))))


def _name(step: StepStory) -> str:
    """A child's id ends with the name of its step."""
    return step.workflow_id.rpartition("/")[2] if step.kind == WORKFLOW else step.name


def logs_json(job: str, run: Run, steps: Sequence[StepStory]) -> dict[str, Any]:
    """Streams by name: `request`, `status`, `body`, `stdout`, `stderr`, `returned`, `log`, `traceback`, `error`; `live` ones are the last 2 KiB so far."""
    return {
        "job": job,
        "scheduled_at": stamp(run.scheduled_at),
        "workflow_id": run.id,
        "run_id": run.run_id,
        "outcome": run.verdict,
        "steps": [
            {
                "name": _name(step),
                "state": step.end,
                "attempts": step.attempts,
                "workflow_id": step.workflow_id or None,
                "printed": [
                    {
                        "attempt": printed.attempt,
                        "state": _state(step, printed),
                        "live": printed.live,
                        "streams": dict(printed.streams),
                    }
                    for printed in step.printed
                ],
            }
            for step in steps
        ],
    }


def _state(step: StepStory, printed: Printed) -> str:
    return step.end if printed.attempt == step.attempts else "failed"


def last_lines(step: StepStory) -> Iterator[tuple[str, str]]:
    """The last lines of each stream of the newest attempt that put something out, each with its stream."""
    newest = next((each for each in reversed(step.printed) if each.streams), None)
    for name, text in newest.streams if newest else ():
        if name in READ:
            lines = output_text(text).rstrip().split("\n")
            yield from ((name, line) for line in lines[-LAST_LINES:] if line.strip())


@dataclass
class LogText:
    """Text for a terminal, of which each call gives only what is new since the last."""

    _shown: dict[Key, str] = field(default_factory=dict)
    _last: Key | None = None

    def new(self, steps: Sequence[StepStory]) -> str:
        """What the steps have put out since, under the step, attempt and stream that it belongs to."""
        return "".join(self._of_step(step) for step in steps)

    def _of_step(self, step: StepStory) -> str:
        if step.kind == WORKFLOW:
            return self._add((_name(step), 0, ""), f"{step.end}, in its own workflow {step.workflow_id}\n", "")
        text = ""
        first = min((printed.attempt for printed in step.printed), default=1)
        if first > 1:
            missing = f"attempt{'s 1 to' if first > 2 else ''} {first - 1}"  # noqa: PLR2004 - one, or several
            text += self._add(
                (step.name, 0, ""), f"{missing}: not kept, because the server keeps only the last failure\n", ""
            )
        for printed in step.printed:
            for name, said in printed.streams:
                text += self._add((step.name, printed.attempt, name), said, _state(step, printed))
            if not printed.streams and not printed.live:
                key = (step.name, printed.attempt, "")
                text += self._add(key, "no output\n", _state(step, printed))
        return text

    def _add(self, key: Key, said: str, state: str) -> str:
        said = output_text(said)
        new = _after(self._shown.get(key, ""), said)
        self._shown[key] = said
        if not new:
            return ""
        step, attempt, stream = key
        words = (step, f"attempt {attempt}" if attempt else "", state, stream)
        head = "" if key == self._last else f"── {' · '.join(word for word in words if word)}\n"
        self._last = key
        return head + new + ("" if new.endswith("\n") else "\n")


def _after(before: str, now: str) -> str:
    """What of `now` was not yet in `before`, of which only the end may have been known."""
    if now.startswith(before):
        return now[len(before) :]
    at = now.find(before[-_OVERLAP:])
    return now if at < 0 else now[at + len(before[-_OVERLAP:]) :]


_OVERLAP = 512
"""Characters by which the end of what was shown is found again."""
