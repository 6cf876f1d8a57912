"""The one error of the time engine."""

from __future__ import annotations


class CronError(ValueError):
    """Text or times that mean no schedule: what is wrong, where, and what was probably meant.

    `position` counts characters from 0 in the expression, or is None where the fault has no single place.
    """

    def __init__(
        self,
        problem: str,
        *,
        field: str = "",
        value: str = "",
        allowed: str = "",
        suggestion: str = "",
        position: int | None = None,
    ) -> None:
        self.problem = problem
        self.field = field
        self.value = value
        self.allowed = allowed
        self.suggestion = suggestion
        self.position = position
        super().__init__(self._message())

    def _message(self) -> str:
        start = f"{self.field}: {self.problem}" if self.field else self.problem
        parts = (start, f"allowed: {self.allowed}" if self.allowed else "", self.suggestion)
        return "; ".join(part for part in parts if part)
