"""Times in templates as text: RFC 3339, or by a format of strftime. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from activities.errors import HandlerError

if TYPE_CHECKING:
    from datetime import datetime

_DIRECTIVE = re.compile(r"%[-_0^#]?[aAbBcCdDeFfgGhHIjklmMnpPrRsStTuUVwWxXyYzZ%]")


def is_format(form: str) -> bool:
    """Whether the text has directives, and none that is unknown."""
    rest = _DIRECTIVE.sub("", form)
    return rest != form and "%" not in rest


def time_text(when: datetime, form: str) -> str:
    """An aware time; without a format in RFC 3339, whole seconds. Raises a permanent HandlerError."""
    if not form:
        text = when.isoformat(timespec="seconds")
        return text.removesuffix("+00:00") + "Z" if when.tzname() == "UTC" else text
    # The C library's `%s` takes the fields for the machine's own local time, whatever the zone.
    form = _DIRECTIVE.sub(lambda found: str(int(when.timestamp())) if found[0] == "%s" else found[0], form)
    try:
        return when.strftime(form)
    except ValueError as error:
        raise HandlerError(f"the format `{form!a}` cannot be used: {error}", permanent=True) from None
