"""Whether the server takes this worker's polls, by the answers that the SDK's core counts."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING

from worker.health.reach import REFUSALS

if TYPE_CHECKING:
    from collections.abc import Callable

    from worker.metrics.sdk_metrics import SdkMetrics

OPERATIONS = ("PollWorkflowTaskQueue", "PollActivityTaskQueue")
SENT, ANSWERED, FAILED = "temporal_long_request", "temporal_long_request_latency", "temporal_long_request_failure"
REFUSED = frozenset(code.name for code in REFUSALS)
PASSING = 30.0
"""Seconds for which polls may fail in ways that pass, such as while a server is replaced."""
QUIET = 15.0
"""Seconds after which the polls under way are taken to be held, not refused: the core makes a failed one again sooner."""

_Fact = tuple[str, str, str]
"""Name of the metric, kind of poll, status code."""


@dataclass
class _Trouble:
    """How the server does not take one kind of poll, since when, and when last."""

    code: str
    first: float
    last: float

    def told(self, now: float, *, held: bool) -> str:
        """In words; empty while it may pass, and while the server holds another poll, which waits for work."""
        if self.code in REFUSED:
            return f"polls are refused: {self.code}"
        return "" if held or now - self.first < PASSING else f"polls fail: {self.code}"


class Polls:
    """Looks at the core's counts; what came in between two looks is what it judges by."""

    def __init__(self, sdk: SdkMetrics, clock: Callable[[], float] = monotonic) -> None:
        self._sdk = sdk
        self._clock = clock
        self._seen: Counter[_Fact] = Counter()
        self._troubles: dict[str, _Trouble] = {}

    def trouble(self) -> str:
        """Why no work can come; empty where it can."""
        counts, now = self._counts(), self._clock()
        news, self._seen = counts - self._seen, counts
        for operation in OPERATIONS:
            self._note(operation, news, now)
        for operation in OPERATIONS:
            if not (sent := counts[SENT, operation, ""]):
                return "starting"
            held = sent > counts[ANSWERED, operation, ""]
            if (trouble := self._troubles.get(operation)) and (told := trouble.told(now, held=held)):
                return told
        return ""

    def _counts(self) -> Counter[_Fact]:
        counts: Counter[_Fact] = Counter()
        for name in (SENT, ANSWERED, FAILED):
            for labels, count in self._sdk.counted(name):
                counts[name, labels.get("operation", ""), labels.get("status_code", "")] += int(count)
        return counts

    def _note(self, operation: str, news: Counter[_Fact], now: float) -> None:
        """A failure begins or continues a trouble; an answer without one, or a long silence, ends it."""
        codes = [code for name, of, code in news if (name, of) == (FAILED, operation)]
        trouble = self._troubles.get(operation)
        if codes:
            code = next((code for code in codes if code in REFUSED), codes[0])
            self._troubles[operation] = _Trouble(code, trouble.first if trouble else now, now)
        elif trouble and (news[ANSWERED, operation, ""] or now - trouble.last > QUIET):
            del self._troubles[operation]
