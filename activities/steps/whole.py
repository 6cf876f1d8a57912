"""The whole of an output that is longer than what a result keeps of it, in a file without secrets."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from tempfile import NamedTemporaryFile, TemporaryFile
from typing import TYPE_CHECKING

from activities.steps.kept import HEAD, TAIL, size_text

if TYPE_CHECKING:
    from activities.steps.attempt import Attempt
    from activities.steps.redact import Redactor

MOST = 100_000_000
"""Bytes of one stream."""
FOLDER_MODE, FILE_MODE = 0o750, 0o640


class Whole:
    """Takes an output as it comes. It lies in a file without a name until it is put into the folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._file = TemporaryFile()  # noqa: SIM115 - closed by `close`
        self._size = 0
        self._fault = ""

    def add(self, data: bytes) -> None:
        """Keeps what comes next, as long as there is room."""
        self._size += len(data)
        if self._fault:
            return
        if self._size > MOST:
            self._fault = f"it is longer than {size_text(MOST)}"
            return
        try:
            self._file.write(data)
        except OSError as error:
            self._fault = error.strerror or str(error)

    def put(self, attempt: Attempt, stream: str) -> str:
        """Where the whole output is, or why it is not; empty where the result has all of it. Blocks."""
        if self._size <= HEAD + TAIL:
            return ""
        path = self._folder / place_of(attempt, stream)
        if not self._fault:
            try:
                self._write(path, attempt.redactor)
            except OSError as error:
                self._fault = error.strerror or str(error)
        return f"not kept: {self._fault}" if self._fault else str(path)

    def close(self) -> None:
        """Gives the room back."""
        with suppress(OSError):
            self._file.close()

    def _write(self, path: Path, redactor: Redactor) -> None:
        """Line by line: of a secret of several lines, each is masked. Nobody sees half of the file."""
        path.parent.mkdir(mode=FOLDER_MODE, parents=True, exist_ok=True)
        self._file.seek(0)
        with NamedTemporaryFile("wb", dir=path.parent, prefix=".", delete=False) as made:
            try:
                for line in self._file:
                    text = line.decode(errors="surrogateescape")
                    made.write(redactor.text(text).encode(errors="surrogateescape"))
                made.flush()
                Path(made.name).chmod(FILE_MODE)
                Path(made.name).replace(path)
            except OSError:
                Path(made.name).unlink(missing_ok=True)
                raise


def place_of(attempt: Attempt, stream: str) -> Path:
    """`<job>/<scheduled time>/<run>/<step>-<attempt>.<stream>`."""
    call = attempt.call
    return Path(
        call.job, call.scheduled_at, call.run_id, f"{call.step.name.replace('/', '_')}-{attempt.number}.{stream}"
    )
