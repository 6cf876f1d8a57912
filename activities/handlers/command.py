"""The `command` handler: a program of the worker's machine, ended with all that it started when its attempt ends."""

from __future__ import annotations

import asyncio
import errno
import os
import shutil
import signal
import subprocess
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from activities.contract import STOP_GRACE
from activities.errors import HandlerError
from activities.handlers.keys import keys_of, with_keys
from activities.handlers.process import GuardedProcess, SpawnError
from activities.handlers.tail import Tail
from activities.steps.heartbeats import LIVE
from activities.steps.output import MAX_OUTPUT
from activities.steps.params import parse_params
from activities.steps.template import is_dynamic
from activities.steps.whole import Whole

if TYPE_CHECKING:
    from activities.handlers.table import Parts
    from activities.steps.attempt import Attempt
    from activities.steps.redact import Redactor

_SHOWN_LINE = 200
_GUARD_SLACK = 3.0  # seconds that the guard may need beyond the grace on a busy machine
_OWN_PREFIXES = ("TICKWRIGHT_", "TEMPORAL_")
_NOT_FOUND = "there is no program `{0}` on this worker (or the interpreter in its first line is missing)"
_PERMANENT_SPAWN_ERRORS = {
    errno.ENOENT: _NOT_FOUND,
    errno.ENOTDIR: _NOT_FOUND,
    errno.EACCES: "`{0}` is not executable for the worker; give it the permission (chmod +x)",
    errno.ENOEXEC: "`{0}` is not a program for this machine; a script needs a first line like `#!/bin/sh`",
    errno.E2BIG: "the arguments and environment of `{0}` are too long for the system; hand large data over in a file",
}


def _handed_over(text: str) -> str:
    if "\0" in text:
        raise ValueError("a NUL character cannot be handed to a program")
    try:
        os.fsencode(text)
    except UnicodeEncodeError:
        raise ValueError("half a character (a lone surrogate) cannot be handed to a program") from None
    return text


def _variable_name(text: str) -> str:
    if not text or "=" in text:
        raise ValueError("a variable's name must not be empty and must have no `=`")
    return _handed_over(text)


_Text = Annotated[str, AfterValidator(_handed_over)]
_Name = Annotated[str, AfterValidator(_variable_name)]


class CommandParams(BaseModel):
    """The program: `argv`, or with `shell` one line for `/bin/sh -c`; `permanent_exit_codes` are not tried again."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    argv: tuple[_Text, ...] = Field(min_length=1)
    env: dict[_Name, _Text] = Field(default_factory=dict)
    cwd: _Text | None = None
    shell: bool = False
    permanent_exit_codes: tuple[int, ...] = ()

    @property
    def program(self) -> str:
        """What messages call it: not the whole script."""
        return "/bin/sh" if self.shell else self.argv[0]


class CommandHandler:
    """Runs programs where the worker's settings allow it."""

    def __init__(self, parts: Parts) -> None:
        self._allowed = parts.allow_commands
        self._outputs = parts.outputs

    def problem(self, params: dict[str, Any]) -> str:
        """See Handler."""
        if not self._allowed:
            return "commands are not allowed on this worker"
        program = params["argv"][0]
        elsewhere = params.get("shell") or params.get("cwd") or "PATH" in params.get("env", {}) or is_dynamic(program)
        return "" if elsewhere or shutil.which(program) else f"there is no program `{program}` on this worker"

    async def run(self, params: dict[str, Any], attempt: Attempt) -> dict[str, Any]:
        """`{"exit_code": 0, "stdout": …, "stderr": …}` with 8 KiB of the end of each, and what stdout says as a JSON object.

        Raises HandlerError: permanent for a program that cannot be started and for `permanent_exit_codes`.
        Cancelled, it ends the process group (SIGTERM, SIGKILL after STOP_GRACE) and leaves the output as evidence.
        """
        if not self._allowed:
            raise HandlerError(
                "commands are not allowed on this worker; set TICKWRIGHT_ALLOW_COMMANDS=true to allow them",
                permanent=True,
            )
        request = parse_params(CommandParams, params)
        process = self._start(request, attempt)
        try:
            code, tails, whole = await self._finish(process, request.program, attempt)
        finally:
            process.close()
        texts = _texts(tails, attempt)
        if code == 0:
            stdout = tails["stdout"]
            return {**with_keys(*keys_of(stdout.data, cut=stdout.is_cut), code, texts), **whole}
        raise _failed(code, request, {**texts, **whole}, attempt.redactor)

    def _start(self, request: CommandParams, attempt: Attempt) -> GuardedProcess:
        if request.shell and len(request.argv) != 1:
            raise HandlerError(
                "with `shell` the command is one string; join its parts, or leave `shell` out", permanent=True
            )
        argv = ("/bin/sh", "-c", *request.argv) if request.shell else request.argv
        try:
            return GuardedProcess(
                argv,
                grace=STOP_GRACE,
                cwd=request.cwd,
                env=self._environment(request, attempt),
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
        except OSError as error:
            failure = _not_started(error, request)
        raise failure

    def _environment(self, request: CommandParams, attempt: Attempt) -> dict[str, str]:
        """The worker's own settings and secrets are not the command's; what it needs of them is given in `env`."""
        inherited = {name: value for name, value in os.environ.items() if not name.startswith(_OWN_PREFIXES)}
        return inherited | request.env | facts_of(attempt)

    async def _finish(
        self, process: GuardedProcess, program: str, attempt: Attempt
    ) -> tuple[int, dict[str, Tail], dict[str, Any]]:
        """The exit code, the outputs, and where the whole of them is."""
        tails: dict[str, Tail] = {}
        try:
            for name, pipe in (("stdout", process.stdout), ("stderr", process.stderr)):
                if pipe is not None:
                    whole = Whole(self._outputs) if self._outputs else None
                    tails[name] = await Tail.of(pipe, MAX_OUTPUT, whole)
            attempt.live = lambda: {name: tail.end(attempt.redactor, LIVE) for name, tail in tails.items()}
            code = await process.wait()
            return code, tails, await _ended(tails, attempt)
        except SpawnError as error:
            failure = _spawn_failed(error, program)
        except asyncio.CancelledError:
            attempt.stopping.set()
            process.stop()
            with suppress(TimeoutError, SpawnError):
                async with asyncio.timeout(STOP_GRACE + _GUARD_SLACK):
                    await process.wait()
            attempt.evidence |= {**await _ended(tails, attempt), **_texts(tails, attempt)}
            raise
        finally:
            for tail in tails.values():
                tail.close()
        raise failure


HANDLER = CommandHandler


def facts_of(attempt: Attempt) -> dict[str, str]:
    """What a program is told of its attempt, by variable."""
    return {
        "TICKWRIGHT_JOB": attempt.call.job,
        "TICKWRIGHT_STEP": attempt.call.step.name,
        "TICKWRIGHT_SCHEDULED_AT": attempt.call.scheduled_at,
        "TICKWRIGHT_ATTEMPT": str(attempt.number),
        "TICKWRIGHT_IDEMPOTENCY_KEY": attempt.idempotency_key,
    }


def last_line(output: dict[str, str], redactor: Redactor) -> str:
    """The last line that a program has put out, for a message; empty for none."""
    text = output["stderr"].strip() or output["stdout"].strip()
    line = redactor.text(
        text.rpartition("\n")[2].rpartition("\r")[2]
    )  # before it is cut, or half a secret might be left
    return f": {line[:_SHOWN_LINE]}" if line else ""


async def _ended(tails: dict[str, Tail], attempt: Attempt) -> dict[str, Any]:
    """Waits for the ends of the outputs; gives `{"whole": …}` with the places of those that are kept as a whole."""
    await asyncio.gather(*(tail.ended() for tail in tails.values()))
    kept = {name: tail.whole for name, tail in tails.items() if tail.whole is not None}
    places = await asyncio.to_thread(lambda: {name: whole.put(attempt, name) for name, whole in kept.items()})
    found = {name: place for name, place in places.items() if place}
    return {"whole": found} if found else {}


def _texts(tails: dict[str, Tail], attempt: Attempt) -> dict[str, str]:
    return {name: tail.text(attempt.redactor) for name, tail in tails.items()}


def _spawn_failed(error: OSError, program: str) -> HandlerError:
    known = _PERMANENT_SPAWN_ERRORS.get(error.errno or 0)
    if known:
        return HandlerError(known.format(program), permanent=True)
    return HandlerError(f"`{program}` could not be started: {error.strerror}")


def _not_started(error: OSError, request: CommandParams) -> HandlerError:
    if request.cwd is not None and error.filename == request.cwd:
        return HandlerError(f"the working directory `{request.cwd}` cannot be used: {error.strerror}", permanent=True)
    return _spawn_failed(error, request.program)


def _failed(code: int, request: CommandParams, output: dict[str, Any], redactor: Redactor) -> HandlerError:
    program = request.program
    if code < 0:
        name = _signal_name(-code)
        return HandlerError(f"`{program}` was killed by {name}", details={"signal": -code, **output}, kind=name)
    return HandlerError(
        f"`{program}` ended with exit code {code}{last_line(output, redactor)}",
        permanent=code in request.permanent_exit_codes,
        details={"exit_code": code, **output},
        kind=f"exit code {code}",
    )


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
