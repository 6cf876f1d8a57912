"""One attempt of a step: what its handler needs to know, and what it leaves for the failure when it is interrupted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from threading import Event
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from activities.context import LastSuccess
from activities.contract import StepCall, TimesRequest
from activities.errors import HandlerError
from activities.steps.altered import without
from activities.steps.idempotency_key import idempotency_key
from activities.steps.log_lines import LogLines
from activities.steps.redact import Redactor
from activities.steps.shell_text import render_shell, shell_places
from activities.steps.step_output import STEPS, Given
from activities.steps.template import names_used, render

if TYPE_CHECKING:
    from activities.steps.secrets import SecretStore
    from activities.steps.template import Names

TYPED = frozenset({"json", "params", "args", "parameters"})
"""Parameters that are sent on as JSON: there an output keeps its type."""
PreviousOccurrence = Callable[[TimesRequest, datetime], datetime | None]
"""The latest time at which the job fires before the given one; None when there is none."""


@dataclass
class Attempt:
    """`number` counts from 1; `evidence` is what a handler has seen (JSON), for a failure that it cannot raise."""

    call: StepCall
    number: int
    previous_occurrence: PreviousOccurrence
    send_heartbeat: Callable[[Any], None] = lambda _details: None
    last_heartbeat: Any = None
    redactor: Redactor = field(default_factory=Redactor)
    begun_at: datetime | None = None  # when the server scheduled it
    stopping: Event = field(default_factory=Event)
    evidence: dict[str, Any] = field(default_factory=dict)
    live: Callable[[], dict[str, str]] = dict
    """The end of what the attempt has put out so far, by stream."""
    log: LogLines = field(default_factory=LogLines)
    note: str = ""
    """What people should know of an attempt that succeeds."""

    @cached_property
    def idempotency_key(self) -> str:
        """The same in every attempt of the step."""
        return idempotency_key(self.call)

    @cached_property
    def scheduled_at(self) -> datetime:
        """Aware, in the job's timezone."""
        try:
            zone = ZoneInfo(self.call.times.timezone)
        except (ZoneInfoNotFoundError, ValueError):
            message = f"this worker does not know the timezone `{self.call.times.timezone}`; install a newer tzdata"
            raise HandlerError(message, permanent=True) from None
        return datetime.fromisoformat(self.call.scheduled_at).astimezone(zone)

    @cached_property
    def interval_start(self) -> datetime | None:
        """The scheduled time before this one, in the job's timezone; None when there is none. Found only on demand."""
        previous = self.previous_occurrence(self.call.times, self.scheduled_at)
        return None if previous is None else previous.astimezone(self.scheduled_at.tzinfo)

    @cached_property
    def last_success(self) -> LastSuccess | None:
        """The newest success before this occurrence; one made up for later than a newer one is not told of that."""
        known = self.call.last_success
        if known is None or (at := datetime.fromisoformat(known.scheduled_at)) >= self.scheduled_at:
            return None
        outputs = {name: without(output, known.altered.get(name, ())) for name, output in known.outputs.items()}
        return LastSuccess(at.astimezone(self.scheduled_at.tzinfo), outputs)

    def render(self, secrets: SecretStore) -> dict[str, Any]:
        """The step's parameters with templates and secrets filled in. Raises a permanent HandlerError."""

        def secret(name: str) -> str:
            value = secrets.resolve(name)
            self.redactor.add(value, name)
            return value

        params = self.call.step.params
        names = {**self._names(params), "attempt": self.number}
        places = shell_places(params) if self.call.step.handler == "command" else ()
        if not places:
            return {name: render(value, names, secret, typed=name in TYPED) for name, value in params.items()}
        values: dict[str, str] = {}
        argv = [
            render_shell(text, names, secret, values) if place in places else render(text, names, secret)
            for place, text in enumerate(params["argv"])
        ]
        rest = {name: render(value, names, secret) for name, value in params.items() if name != "argv"}
        return {**rest, "argv": argv, "env": {**rest.get("env", {}), **values}}

    def written(self, text: str) -> str:
        """A text of the step's parameters with templates filled in, and secrets still as references: fit to be shown."""
        shown: str = render(text, {**self._names(text), "attempt": self.number}, lambda name: f"${{secret:{name}}}")
        return shown

    def render_arguments(self) -> list[Any]:
        """The `args` of a `workflow` step, templates filled in; no secrets, and no `attempt`: the child has its own."""
        args = self.call.step.params.get("args", [])
        rendered: list[Any] = render(args, self._names(args), typed=True)
        return rendered

    def _names(self, params: Any) -> Names:
        names: dict[str, Any] = {
            f"{STEPS}{name}": Given(output, self.call.altered.get(name, ()))
            for name, output in self.call.outputs.items()
        }
        names |= {
            "scheduled_at": self.scheduled_at,
            "interval_end": self.scheduled_at,
            "job": self.call.job,
            "step": self.call.step.name,
            "run_id": self.call.run_id,
        }
        used = names_used(params)
        if "interval_start" in used:
            names["interval_start"] = self._known_start("interval_start")
        if "last_success" in used:
            last = self.last_success
            names["last_success"] = last.scheduled_at if last else self._known_start("last_success")
            if last is None and self.call.last_success_unreadable:
                self.note = f"`last_success` is the previous scheduled time here: {self.call.last_success_unreadable}"
        return names

    def _known_start(self, asked: str) -> datetime:
        """The interval's start, which stands for a last success where there is none yet."""
        if self.interval_start is None:
            raise HandlerError(
                f"`{asked}`: the job has no scheduled time before this one; use `scheduled_at`", permanent=True
            )
        return self.interval_start
