"""`${secret:NAME}`: looked up in the worker at the moment of use; never in a compiled spec, a log or the history."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from activities.errors import HandlerError, Problem
from activities.steps.redact import forms_of
from activities.steps.template import secrets_used

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

VARIABLE_PREFIX = "TICKWRIGHT_SECRET_"
MAX_BYTES = 64 * 1024
SHORT = 8
"""Characters; a shorter value stands in ordinary text by chance."""
COMMON = frozenset(
    {
        "database",
        "development",
        "localhost",
        "password",
        "postgres",
        "postgresql",
        "production",
        "reporting",
        "username",
    }
    | {"127.0.0.1", "12345678", "changeme", "eu-central-1", "eu-west-1", "us-east-1", "us-west-2", "europe-west1"}
)
"""Longer ones that do."""


class SecretStore:
    """Secrets of this worker: the variable `TICKWRIGHT_SECRET_<NAME>`, else the file `<directory>/<NAME>`."""

    def __init__(
        self, environ: Mapping[str, str], directory: Path | None = None, *, others: Sequence[str] = ()
    ) -> None:
        """`others`: what no step may use, and yet is secret: the worker's own keys and tokens."""
        self._environ = environ
        self._directory = directory
        self._others = others
        self._seen: dict[Path, object] | None = None
        self._forms: tuple[str, ...] = ()

    def forms(self) -> tuple[str, ...]:
        """How every secret of this worker shows up, for the redaction of steps that have not used it."""
        files = {} if self._directory is None else _files(self._directory)
        if files != self._seen:
            given = [value for name, value in self._environ.items() if name.startswith(VARIABLE_PREFIX)]
            held = [self._found(path) for path in files]
            self._seen, self._forms = files, forms_of(filter(_is_text, (*given, *held, *self._others)))
        return self._forms

    def ordinary(self) -> list[str]:
        """The names of the secrets whose values stand in ordinary text, where they hide what is none, and are soon guessed."""
        files = {} if self._directory is None else _files(self._directory)
        values = {path.name: self._found(path) for path in files}
        for name, value in self._environ.items():
            if name.startswith(VARIABLE_PREFIX):
                values[name.removeprefix(VARIABLE_PREFIX)] = value
        return sorted(name for name, value in values.items() if value and _is_ordinary(value))

    def _found(self, path: Path) -> str:
        try:
            return _read(path, path.name) or ""
        except HandlerError:  # The step that uses it is told.
            return ""

    def resolve(self, name: str) -> str:
        """The secret's value, read anew each time; one newline at the end of a file is not part of it.

        Raises a permanent HandlerError that names the places looked at, never a value.
        """
        variable = VARIABLE_PREFIX + name
        places = [f"the variable {variable}"]
        value = self._environ.get(variable)
        if value is None and self._directory is not None:
            path = self._directory / name
            places.append(f"the file {path}")
            value = _read(path, name)
        if value is None:
            raise HandlerError(
                f"this worker has no secret `{name}`; it looked in {' and '.join(places)}", permanent=True
            )
        if not value:
            raise HandlerError(f"the secret `{name}` is empty in {places[-1]}", permanent=True)
        if not _is_text(value):
            raise HandlerError(f"the secret `{name}` in {places[-1]} is not UTF-8 text", permanent=True)
        return value


def refuse_secrets(args: Any) -> list[Problem]:
    """For lint: secrets in a `workflow` step's arguments, which Temporal stores in the history of the child."""
    return [
        Problem(
            path,
            f"`${{secret:{name}}}` would be stored in the history; resolve it in an activity of the workflow instead",
        )
        for path, name in secrets_used(args)
    ]


def _files(directory: Path) -> dict[Path, object]:
    """The files that can be secrets, with what tells one state of a file from the next."""
    found: dict[Path, object] = {}
    with suppress(OSError), os.scandir(directory) as entries:
        for entry in entries:
            with suppress(OSError):
                if entry.is_file():
                    state = entry.stat()
                    found[Path(entry.path)] = (state.st_ino, state.st_mtime_ns, state.st_size)
    return found


def _is_ordinary(value: str) -> bool:
    return len(value) < SHORT or value.lower() in COMMON


def _is_text(value: str) -> bool:
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def _read(path: Path, name: str) -> str | None:
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
        if len(data) > MAX_BYTES:
            raise HandlerError(f"the secret `{name}` in {path} is larger than {MAX_BYTES} bytes", permanent=True)
        # Bytes that are no UTF-8 become what `_is_text` refuses, as they do in the environment.
        text = data.decode(errors="surrogateescape")
        return text.removesuffix("\r\n") if text.endswith("\r\n") else text.removesuffix("\n")
    except FileNotFoundError:
        return None
    except OSError as error:
        raise HandlerError(f"the secret `{name}` in {path} cannot be read: {error.strerror}", permanent=True) from None
