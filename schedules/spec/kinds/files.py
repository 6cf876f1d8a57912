"""Files that a step names, by their paths from the spec file's folder; only whoever reads spec files can read them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from schedules.spec.fields import FieldError

if TYPE_CHECKING:
    from pydantic import ValidationInfo

READ_TEXT, READ_VALUE = "read_text", "read_value"
"""Keys of readers in the context of a validation. A reader takes a path, and raises ValueError that says why it cannot."""


def read_named(info: ValidationInfo, reader: str, key: str, name: str, in_python: str) -> Any:
    """The text (READ_TEXT) or the YAML value (READ_VALUE) of the file under `key`. Raises FieldError, in Python with other advice."""
    read: Callable[[str], Any] | None = (info.context or {}).get(reader)
    if read is None:
        raise FieldError(key, f"is for spec files; in Python, write {in_python}")
    try:
        return read(name)
    except ValueError as error:
        raise FieldError(key, str(error)) from None
