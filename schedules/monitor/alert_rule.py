"""One alert rule of Prometheus, and texts in it. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

Severity = Literal["page", "ticket", "warn"]


@dataclass(frozen=True, slots=True)
class Rule:
    """An alert: `expr` is PromQL, `summary` and `labels` are templates of Prometheus."""

    name: str
    expr: str
    severity: Severity
    summary: str
    hold: str = ""

    def document(self, labels: Mapping[str, str], annotations: Mapping[str, str]) -> dict[str, Any]:
        """As a rule file has it."""
        return {
            "alert": f"Tickwright{self.name}",
            "expr": self.expr,
            **({"for": self.hold} if self.hold else {}),
            "labels": {**labels, "severity": self.severity},
            "annotations": dict(annotations),
        }


def plain(text: str) -> str:
    """A text that Prometheus' templates leave as it is."""
    return text.replace("{{", '{{ "{{" }}')


def quoted(text: str) -> str:
    """A string of PromQL, and of a template."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
