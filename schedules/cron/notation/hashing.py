"""Values that spread jobs over the clock: the same job always gets the same one, different jobs different ones."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from schedules.cron.masks import mask_of

if TYPE_CHECKING:
    from schedules.cron.notation.cells import Cell
    from schedules.cron.notation.fields import Reader

_HASHED = re.compile(
    r"(?P<h>H)(?:\((?P<low>\d{1,4})-(?P<high>\d{1,4})\))?(?:/(?P<step>[^/]*))?|(?P<from>\w*)~(?P<to>\w*)(?:/(?P<step2>[^/]*))?",
    re.ASCII,
)
SAFE_LAST_DAY = 28  # as in Jenkins: a day of the month that every month has


def may_be_hashed(text: str) -> bool:
    """Whether a field can hold a hashed item at all."""
    return "~" in text or "H" in text


def is_hashed(text: str) -> bool:
    """Whether an item is `H…` or holds `~`."""
    return "~" in text or text == "H" or text.startswith(("H(", "H/"))


def hashed(reader: Reader, cell: Cell) -> int:
    """The mask of `H`, `H(a-b)`, `H/n`, `H(a-b)/n` (Jenkins), `~`, `a~b`, `~/n` (OpenBSD cron)."""
    found = _HASHED.fullmatch(cell.text)
    if found is None:
        raise reader.error(f"{cell.text!r} is no hashed value", cell, "write H, H(0-29), H/15, H(0-29)/10 or 0~29")
    low, high = _bounds(reader, cell, found["low"] or found["from"], found["high"] or found["to"])
    width = high - low + 1
    step_text = found["step"] if found["h"] else found["step2"]
    if step_text is None:
        return mask_of((reader.unit.meaning(low + _number(reader) % width),))
    step = reader.step(cell.after(len(cell.text) - len(step_text)), cell)
    start = low + _number(reader) % min(step, width)
    return mask_of(reader.unit.meaning(value) for value in range(start, high + 1, step))


def _bounds(reader: Reader, cell: Cell, low: str | None, high: str | None) -> tuple[int, int]:
    unit = reader.unit
    last = SAFE_LAST_DAY if unit.name == "day-of-month" else unit.low + unit.size - 1
    bounds = [
        reader.number(type(cell)(text, cell.at)) if text else default
        for text, default in ((low, unit.low), (high, last))
    ]
    if bounds[1] < bounds[0]:
        form = "H({}-{})" if cell.text.startswith("H") else "{}~{}"
        parts = form.format(bounds[0], last), form.format(unit.low, bounds[1])
        raise reader.error(f"{cell.text!r} begins after its end", cell, f"write {' or '.join(parts)}")
    return bounds[0], bounds[1]


def _number(reader: Reader) -> int:
    import hashlib  # only here: most runs hash nothing

    digest = hashlib.sha256(f"{reader.hash_key}\n{reader.unit.name}".encode()).digest()
    return int.from_bytes(digest[:8], "big")
