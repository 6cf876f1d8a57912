"""A job's labels as Prometheus can have them on its alerts. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from schedules.spec.job import JobSpec
    from schedules.spec.layers import Path

RUNBOOK = "runbook"
"""The label of a job whose value is a link for whoever is alerted: an annotation, and no label."""
RESERVED = frozenset({"job", "owner", "severity", "alertname", "instance"})
EXPORTED = "exported_"
"""What Prometheus, too, puts before a label whose name is taken."""
_NOT_ALLOWED = re.compile(r"[^a-zA-Z0-9_]")


def alert_label(name: str) -> str:
    """The name of the label on alerts: `_` for what cannot stand there, `exported_` before what an alert has itself."""
    allowed = _NOT_ALLOWED.sub("_", name)
    if allowed[:1].isdigit():
        allowed = f"_{allowed}"
    elif allowed.startswith("__"):  # Prometheus' own
        allowed = f"_{allowed.lstrip('_')}"
    return EXPORTED + allowed if allowed in RESERVED else allowed


def alert_labels(labels: Mapping[str, str]) -> dict[str, str]:
    """The labels of a job's alerts, by name."""
    return {alert_label(name): labels[name] for name in sorted(labels, key=alert_label) if name != RUNBOOK}


def label_faults(job: JobSpec) -> Iterator[tuple[Path, str]]:
    """Labels that would be one label on alerts, each as the path within the job and a message."""
    first: dict[str, str] = {}
    for name in (name for name in job.labels if name != RUNBOOK):
        mapped = alert_label(name)
        if mapped in first:
            message = f"is `{mapped}` on alerts, as `{first[mapped]}` is; give one of the two another name"
            yield ("labels", name), message
        first.setdefault(mapped, name)
