"""The output of a container or a pod, read from its beginning as often as need be, and taken once."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from activities.handlers.keys import keys_of, with_keys
from activities.steps.kept import Kept
from activities.steps.output import MAX_OUTPUT
from activities.steps.whole import Whole

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

    from activities.steps.attempt import Attempt
    from activities.steps.redact import Redactor
    from activities.steps.sinks import Sink

STREAMS = ("stdout", "stderr")


class Output:
    """Both streams; close it. `shown_before` are the bytes of each that people have been shown by an earlier attempt."""

    def __init__(self, shown_before: Mapping[str, int], sink: Sink | None) -> None:
        self.kept = {stream: Kept(MAX_OUTPUT) for stream in STREAMS}
        self._shown = {stream: Kept(MAX_OUTPUT) for stream in STREAMS}
        self._before = {stream: int(shown_before.get(stream, 0)) for stream in STREAMS}
        self._files = {stream: Whole(sink) for stream in STREAMS} if sink else {}

    @property
    def shown(self) -> dict[str, int]:
        """Bytes of each stream that people have been shown, by this attempt or an earlier one."""
        return {stream: max(kept.size, self._before[stream]) for stream, kept in self.kept.items()}

    async def read(self, log: AsyncIterator[tuple[str, bytes]]) -> None:
        """Take what is new in a log, which gives stream and bytes from the beginning."""
        place = dict.fromkeys(STREAMS, 0)
        async for stream, data in log:
            begin = place[stream]
            place[stream] += len(data)
            self._take(stream, begin, data)

    def _take(self, stream: str, begin: int, data: bytes) -> None:
        new = data[max(self.kept[stream].size - begin, 0) :]
        before = max(self._before[stream] - self.kept[stream].size, 0)
        self.kept[stream].add(new)
        self._shown[stream].add(new[before:])
        if stream in self._files:
            self._files[stream].add(new)

    def texts(self, redactor: Redactor) -> dict[str, str]:
        """What people are shown; whole secrets are still in it."""
        return {stream: kept.text(redactor) for stream, kept in self._shown.items()}

    def ends(self, redactor: Redactor, size: int) -> dict[str, str]:
        """The last `size` bytes of each, likewise."""
        return {stream: kept.end(redactor, size) for stream, kept in self._shown.items()}

    async def details(self, attempt: Attempt) -> dict[str, Any]:
        """The texts, and `whole` with the places of the streams that are kept as a whole, if any are."""
        return {**self.texts(attempt.redactor), **await self._places(attempt)}

    async def success(self, attempt: Attempt) -> dict[str, Any]:
        """What a step with exit code 0 gives: the keys of the last line, and the details."""
        details, stdout = await self.details(attempt), self.kept["stdout"]
        whole = {"whole": details.pop("whole")} if "whole" in details else {}
        return {**with_keys(*keys_of(stdout.data, cut=stdout.is_cut), 0, details), **whole}

    async def _places(self, attempt: Attempt) -> dict[str, dict[str, str]]:
        put = {stream: await asyncio.to_thread(whole.put, attempt, stream) for stream, whole in self._files.items()}
        found = {stream: place for stream, place in put.items() if place}
        return {"whole": found} if found else {}

    def close(self) -> None:
        """Gives the room of the files back."""
        for whole in self._files.values():
            whole.close()
