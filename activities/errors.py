"""Failures of a step with their verdict, and problems that a check finds, as values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping


class HandlerError(Exception):
    """An attempt failed. `permanent`: no further attempt can mend it; `retry_after`: least seconds until the next one.

    `details` are JSON values for whoever looks into the failure. Secrets may be in them and in the message: they are
    taken out before either is logged or stored. `kind` is what failures are counted by: one of a few words, without a secret.
    """

    def __init__(
        self,
        message: str,
        *,
        permanent: bool = False,
        retry_after: float | None = None,
        details: Mapping[str, Any] | None = None,
        kind: str = "",
    ) -> None:
        super().__init__(message)
        self.message = str(message)
        self.permanent = permanent
        self.retry_after = retry_after
        self.details = dict(details or {})
        self.kind = kind or type(self).__name__


@dataclass(frozen=True, slots=True)
class Problem:
    """Something wrong in a JSON value: where (keys and indexes from its root) and what, with what to write instead."""

    path: tuple[str | int, ...]
    message: str
