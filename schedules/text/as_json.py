"""Requests as the JSON that the server keeps. Pure."""

from __future__ import annotations

from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from typing import Any, cast


def as_json(request: Any) -> Any:
    """The request as the JSON object that the server keeps; parameters are shared, not copied.

    Fields that are as by default are left out, numbers apart: one that a release adds changes no schedule without it.
    """
    if is_dataclass(request):
        left_out = _defaults(cast("Any", type(request)))
        return {
            name: as_json(value)
            for name, value in vars(request).items()
            if name not in left_out or value != left_out[name]
        }
    return [as_json(item) for item in request] if isinstance(request, list) else request


@cache
def _defaults(kind: Any) -> dict[str, Any]:
    made = {item.name: item.default_factory() for item in fields(kind) if item.default_factory is not MISSING}
    given = {item.name: item.default for item in fields(kind) if item.default is not MISSING}
    shown = {name for name, value in given.items() if isinstance(value, int | float) and value is not False}
    return {name: value for name, value in {**made, **given}.items() if name not in shown}
