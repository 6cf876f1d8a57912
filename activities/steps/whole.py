"""The whole of an output that is longer than what a result keeps of it, put somewhere without secrets."""

from __future__ import annotations

from contextlib import suppress
from pathlib import PurePosixPath
from tempfile import TemporaryFile
from typing import TYPE_CHECKING

from activities.steps.kept import HEAD, TAIL, size_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from activities.steps.attempt import Attempt
    from activities.steps.redact import Redactor
    from activities.steps.sinks import Sink

MOST = 100_000_000
"""Bytes of one stream."""


class Whole:
    """Takes an output as it comes. It lies in a file without a name until it is put into the sink."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
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
        if not self._fault:
            try:
                return self._sink.put(place_of(attempt, stream), self._masked(attempt.redactor))
            except OSError as error:
                self._fault = error.strerror or str(error)
        return f"not kept: {self._fault}"

    def close(self) -> None:
        """Gives the room back."""
        with suppress(OSError):
            self._file.close()

    def _masked(self, redactor: Redactor) -> Iterator[bytes]:
        """Line by line: of a secret of several lines, each is masked."""
        self._file.seek(0)
        for line in self._file:
            yield redactor.text(line.decode(errors="surrogateescape")).encode(errors="surrogateescape")


def place_of(attempt: Attempt, stream: str) -> PurePosixPath:
    """`<job>/<scheduled time>/<run>/<step>-<attempt>.<stream>`."""
    call = attempt.call
    return PurePosixPath(
        call.job, call.scheduled_at, call.run_id, f"{call.step.name.replace('/', '_')}-{attempt.number}.{stream}"
    )
