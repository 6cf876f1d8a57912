"""Takes secrets out of whatever leaves a step for people to read: outputs, errors, logs, heartbeats.

What a later step uses is never a masked value: of an output, the places are told where something was masked.
"""

from __future__ import annotations

import json
import re
from base64 import b64encode
from contextvars import ContextVar
from threading import Lock
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, quote_plus
from weakref import WeakSet

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, MutableMapping

    from activities.steps.readable import Path

    Masked = Callable[[Path, tuple[str, ...]], None]
    """Is told where in a value something was masked, and the names of the secrets as far as they are known."""

MARK = "***"
OWN_KEYS = frozenset(
    {"status", "body", "request", "exit_code", "signal", "stdout", "stderr", "traceback", "still_running", "cut"}
    | {"no_keys", "log", "whole", "row_count", "row_counts", "rows", "rows_left_out", "sqlstate"}
)
"""Keys of what our handlers give back: no secret stands in them, though one of a single letter might seem to."""
OWN_NUMBERS, _MOST_OWN_NUMBER = frozenset({"status", "exit_code", "signal"}), 999
_LEAST_IN_NUMBER = 8
"""Length of a secret that is masked in the middle of a number; a shorter one only where it is the whole number."""
_LEAST_LINE = 8
_LEAST_BASE64 = 6
_LEAST_UNUSED, _LEAST_UNUSED_LINE = 8, 20
"""Length of a secret, and of one of its lines, that is taken out of steps which have not asked for it: shorter ones may be words."""


def forms_of(secrets: Iterable[str]) -> tuple[str, ...]:
    """Of secrets that a step has not used: how those show up that are long enough to be nothing else."""
    found: set[str] = set()
    for secret in secrets:
        if len(secret) >= _LEAST_UNUSED:
            found |= set(_forms(secret, _LEAST_UNUSED_LINE))
    return _longest_first(found)


def _longest_first(forms: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(forms, key=lambda form: (-len(form), form)))


class Redactor:
    """Knows the secrets that a step has used and replaces them, also escaped, quoted or in base64, by `***`."""

    def __init__(self, known: tuple[str, ...] = ()) -> None:
        """`known`: what is replaced besides, from `forms_of`."""
        self._known = self._forms = known
        self._own: dict[str, str] = {}

    def add(self, secret: str, name: str = "") -> None:
        """Replace `secret` from now on; empty ones are ignored. `name` is what people call it."""
        if secret:
            self._own |= {form: name for form in _forms(secret, _LEAST_LINE) if form}
            self._forms = _longest_first({*self._known, *self._own})

    @property
    def has_own(self) -> bool:
        """Whether the step has used secrets."""
        return bool(self._own)

    def text(self, text: str, *, cut_start: bool = False, cut_end: bool = False) -> str:
        """`text` without secrets; at an end where it was cut off, without a rest of one either."""
        if cut_start:
            text = self.without_rest(text, at_start=True)
        if cut_end:
            text = self.without_rest(text, at_start=False)
        shown = [
            form for form in self._forms if form in text
        ]  # One pattern of them all would take a hundred times as long.
        return re.sub("|".join(map(re.escape, shown)), MARK, text) if shown else text

    def without_rest(self, text: str, *, at_start: bool) -> str:
        """`text` without what may be the rest of a secret at the end where it was cut off; whole secrets stay in it."""
        while size := self._rest(text, at_start=at_start):
            text = text[size:] if at_start else text[:-size]
        return text

    def _rest(self, text: str, *, at_start: bool) -> int:
        """How much there may be the rest of a secret; of one that the step has not used, a few characters say nothing."""

        def size(form: str) -> int:
            return _overlap(form, text) if at_start else _overlap(text, form)

        of_known = (found for found in map(size, self._known) if found >= _LEAST_UNUSED)
        return max((*map(size, self._own), *of_known), default=0)

    def value(self, value: Any, masked: Masked = lambda _path, _names: None) -> Any:
        """A JSON value without secrets, keys and numbers too; any other object that shows one is replaced."""
        return self._clean(value, (), masked) if self._may_show(value) else value

    def _may_show(self, value: Any) -> bool:
        """By one look at its JSON: what is escaped there is so in `_forms`, too."""
        if not self._forms:
            return False
        try:
            whole = json.dumps(value, ensure_ascii=False)
        except (TypeError, ValueError, RecursionError):
            return True
        return any(form in whole for form in self._forms)

    def _clean(self, value: Any, path: Path, masked: Masked) -> Any:
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, dict):
            keys = [self._key(key, path, masked) for key in value]
            items = zip(keys, value.values(), strict=True)
            return {key: self._clean(item, (*path, key), masked) for key, item in items}
        if isinstance(value, list | tuple):
            return [self._clean(item, (*path, index), masked) for index, item in enumerate(value)]
        shown = self._shown_in(value, path)
        if shown:
            masked(path, self._names(shown))
        return self.text(value) if isinstance(value, str) else MARK if shown else value

    def _key(self, key: Any, path: Path, masked: Masked) -> Any:
        """The key as it may be shown; where it was masked, what stands under it cannot be found by its name any more."""
        if not isinstance(key, str) or key in OWN_KEYS or not (shown := self._shown_in(key, path)):
            return key
        masked((*path, clean := self.text(key)), self._names(shown))
        return clean

    def _shown_in(self, value: Any, path: Path) -> list[str]:
        """The forms of secrets in a text or number; a number that is ours, or holds a short one by chance, shows none."""
        if isinstance(value, int | float):
            whole = str(value)
            if len(path) == 1 and path[0] in OWN_NUMBERS and abs(value) <= _MOST_OWN_NUMBER:
                return []
            return [form for form in self._forms if form == whole or (len(form) >= _LEAST_IN_NUMBER and form in whole)]
        whole = value if isinstance(value, str) else f"{value} {value!r}"
        return [form for form in self._forms if form in whole]

    def _names(self, forms: Iterable[str]) -> tuple[str, ...]:
        return tuple(sorted({name for form in forms if (name := self._own.get(form))}))


_current: ContextVar[Redactor | None] = ContextVar("redactor", default=None)
_in_use: WeakSet[Redactor] = WeakSet()
_changes = Lock()


def use_redactor(redactor: Redactor) -> None:
    """Let `redact_event` use `redactor` in this task and in the threads and tasks that copy its context.

    Elsewhere, such as in a thread that a handler has started by itself, the redactors of all running steps are used.
    """
    _current.set(redactor)
    with _changes:
        _in_use.add(redactor)


def redact_event(_logger: object, _method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Structlog processor: takes the running step's secrets out of a log line.

    Belongs after `format_exc_info` and before the renderer.
    """
    redactor = _current.get()
    for known in _all_in_use() if redactor is None else (redactor,):
        event.update({key: known.value(value) for key, value in event.items()})
    return event


def _all_in_use() -> list[Redactor]:
    """Those with secrets of their own, else any: what is known besides is the same in all of them."""
    with _changes:
        known = list(_in_use)
    return [redactor for redactor in known if redactor.has_own] or known[:1]


def _forms(secret: str, least_line: int) -> Iterator[str]:
    """How a secret shows up: as it is, by line, escaped for JSON or Python, quoted for a URL, in base64."""
    yield secret
    yield from (line for line in secret.splitlines() if len(line) >= least_line)
    yield from (json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1], repr(secret)[1:-1])
    for quoted in (quote(secret), quote(secret, safe=""), quote_plus(secret)):
        yield from (quoted, re.sub("%[0-9A-F]{2}", lambda found: found[0].lower(), quoted))
    raw = secret.encode()
    if len(raw) >= _LEAST_BASE64:
        for shift in range(3):
            inner = _base64_inside(raw, shift)
            yield from (inner, inner.replace("+", "-").replace("/", "_"))


def _base64_inside(raw: bytes, shift: int) -> str:
    """The characters that `raw` alone decides in the base64 of a text (`user:raw`) with it at `shift` modulo 3."""
    encoded = b64encode(bytes(shift) + raw).decode().rstrip("=")
    first = (shift * 8 + 5) // 6
    return encoded[first : (shift + len(raw)) * 8 // 6]


def _overlap(left: str, right: str) -> int:
    """Length of the longest start of `right` with which `left` ends (Knuth-Morris-Pratt: linear)."""
    reach = min(len(left), len(right))
    left, right = left[len(left) - reach :], right[:reach]
    table = [0] * reach
    size = 0
    for index in range(1, reach):
        while size and right[index] != right[size]:
            size = table[size - 1]
        size += right[index] == right[size]
        table[index] = size
    size = 0
    for char in left:
        while size and (size == reach or right[size] != char):
            size = table[size - 1]
        size += right[size] == char
    return size
