"""Prometheus' alert rules for the jobs of a project, over what the monitor and the workers export. Pure.

Jobs with the same thresholds, labels and runbook share a rule: ten thousand jobs make a dozen rules, not a hundred thousand.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any, Literal

from schedules.duration import format_duration

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from datetime import timedelta

    from schedules.alerts_spec import AlertsSpec
    from schedules.project import Project
    from schedules.spec import JobSpec

Severity = Literal["page", "ticket", "warn"]
RUNBOOK = "runbook"
"""The label of a job whose value is a link for whoever is alerted."""
LABEL = re.compile(r"(?!__)[a-zA-Z_][a-zA-Z0-9_]*")
RESERVED = frozenset({"job", "owner", "severity", "alertname", "instance", RUNBOOK})
FAILED_FOR, HORIZON, MONITOR_SILENT = 15 * 60, 30 * 24 * 3600, 5 * 60
"""Seconds: for how long a failure is alerted of at least, before what end of exactness, after what silence of the monitor."""
SHORTEST = 5
"""Seconds; what takes less is never slow."""
TREND = 1.5
JOB = "{{ $labels.job }}"


@dataclass(frozen=True, slots=True)
class Rule:
    """An alert: `expr` is PromQL, `summary` and `labels` are templates of Prometheus."""

    name: str
    expr: str
    severity: Severity
    summary: str
    hold: str = ""

    def document(self, labels: dict[str, str], annotations: dict[str, str]) -> dict[str, Any]:
        """As a rule file has it."""
        return {
            "alert": f"Tickwright{self.name}",
            "expr": self.expr,
            **({"for": self.hold} if self.hold else {}),
            "labels": {**labels, "severity": self.severity},
            "annotations": {"summary": self.summary, **annotations},
        }


def rule_file(project: Project) -> dict[str, Any]:
    """The document of a rule file, with one group for the project."""
    rules = [rule for jobs in _alike(project.jobs) for rule in _of_jobs(project.owner, jobs)]
    around = [rule.document({"owner": project.owner}, {}) for rule in _around(project)]
    return {"groups": [{"name": f"tickwright {project.owner}", "rules": [*rules, *around]}]}


def _alike(jobs: Iterable[JobSpec]) -> Iterator[Sequence[JobSpec]]:
    """Jobs by what their rules have in common."""

    def key(job: JobSpec) -> str:
        return repr((job.alerts, sorted(job.labels.items())))

    for _, group in groupby(sorted(jobs, key=lambda job: (key(job), job.name)), key):
        yield list(group)


def _of_jobs(owner: str, jobs: Sequence[JobSpec]) -> Iterator[dict[str, Any]]:
    job = jobs[0]
    labels = {
        name: plain(value) for name, value in job.labels.items() if LABEL.fullmatch(name) and name not in RESERVED
    }
    annotations = {"runbook_url": plain(job.labels[RUNBOOK])} if RUNBOOK in job.labels else {}
    of = _Series(owner, [each.name for each in jobs])
    for rule in (*_timely(of, job.alerts), *_well(of, job.alerts), *_as_declared(of)):
        yield rule.document(labels, annotations)


class _Series:
    """The series of a group of jobs; two monitors that tell the same count once."""

    def __init__(self, owner: str, names: Sequence[str]) -> None:
        one, some = f'job="{names[0]}"', f'job=~"{"|".join(_literal(name) for name in names)}"'
        self._selector = f'{{owner="{owner}",{one if len(names) == 1 else some}}}'

    def __call__(self, name: str) -> str:
        return f"max by (job, owner) (tickwright_job_{name}{self._selector})"

    def average(self, name: str, span: str) -> str:
        return f"max by (job, owner) (avg_over_time(tickwright_job_{name}{self._selector}[{span}]))"


def _timely(of: _Series, alerts: AlertsSpec) -> Iterator[Rule]:
    """About runs that are not there."""
    if alerts.overdue is not None:
        summary = f"{JOB} should have ended {{{{ $value | humanizeDuration }}}} ago and has not"
        yield Rule("JobOverdue", f"{of('overdue_seconds')} > {_seconds(alerts.overdue)}", "page", summary)
    if alerts.missed:
        summary = f"{JOB} missed {{{{ $value }}}} of its times of the last 24 hours"
        yield Rule("JobMissed", f"{of('missed')} > 0", "warn", summary)
    if alerts.backlog is not None:
        summary = f"{{{{ $value }}}} starts of {JOB} wait for a run to end"
        yield Rule("JobBacklog", f"{of('buffered')} > {alerts.backlog}", "warn", summary)
    if alerts.paused is not None:
        expr = f"time() - {of('paused_since_timestamp_seconds')} > {_seconds(alerts.paused)}"
        yield Rule("JobPaused", expr, "ticket", f"{JOB} has been paused for more than {format_duration(alerts.paused)}")


def _well(of: _Series, alerts: AlertsSpec) -> Iterator[Rule]:
    """About runs that are there."""
    if alerts.failed:
        expr = f"{of('consecutive_failures')} > 0 or {of('last_failure_timestamp_seconds')} > time() - {FAILED_FOR}"
        yield Rule("JobFailed", expr, "page", f"{JOB} failed after all its attempts")
    if alerts.failure_rate is not None:
        summary = f"{{{{ $value | humanizePercentage }}}} of the runs of {JOB} failed in 24 hours"
        yield Rule("JobFailureRate", f"{of('failure_ratio')} > {alerts.failure_rate:g}", "ticket", summary)
    if alerts.slower is not None:
        last, usual = of("last_duration_seconds"), of("usual_duration_seconds")
        expr = f"{last} > {alerts.slower:g} * {usual} and {last} > {SHORTEST}"
        summary = f"{JOB} takes {{{{ $value | humanizeDuration }}}}, {alerts.slower:g} times as long as usual or more"
        yield Rule("JobSlow", expr, "warn", summary)
        expr = f"{usual} > {TREND} * {of.average('usual_duration_seconds', '7d')} and {usual} > {SHORTEST}"
        summary = f"{JOB} has come to take {{{{ $value | humanizeDuration }}}}: longer and longer in a week"
        yield Rule("JobSlowing", expr, "warn", summary, "1h")


def _as_declared(of: _Series) -> Iterator[Rule]:
    """About schedules that are not as their specs are."""
    yield Rule("ScheduleMissing", f"{of('schedule_missing')} > 0", "page", f"{JOB} has no schedule; run a sync", "5m")
    yield Rule("ScheduleDrift", f"{of('drift')} > 0", "ticket", f"the schedule of {JOB} is not as its spec", "15m")
    expr = f"{of('exact_until_timestamp_seconds')} - time() < {HORIZON}"
    summary = f"clock changes and holidays of {JOB} are known for {{{{ $value | humanizeDuration }}}} more; run a sync"
    yield Rule("ScheduleHorizon", expr, "ticket", summary)


def _around(project: Project) -> Iterator[Rule]:
    """About what all of it depends on."""
    last = "tickwright_monitor_last_look_timestamp_seconds"
    expr = f"time() - max({last}) > {MONITOR_SILENT} or absent({last})"
    yield Rule("MonitorGone", expr, "page", "no monitor has seen the jobs of late: nobody would be told of them", "1m")
    for queue in sorted(set(filter(None, _queues(project.jobs)))):
        expr = f"absent(tickwright_worker_info{{task_queue={_quoted(queue)}}})"
        yield Rule("WorkersGone", expr, "page", f"no worker polls task queue {plain(queue)}", "5m")


def _queues(jobs: Iterable[JobSpec]) -> Iterator[str | None]:
    """Those of our own workers: whatever runs a workflow that the schedule starts itself may export nothing of ours."""
    for job in jobs:
        if not (job.run and job.run.workflow and job.run.workflow.direct):
            yield from (job.task_queue, *(step.task_queue for step in job.steps))
        yield job.on_missed.task_queue if job.on_missed and job.on_missed.channels else None


def plain(text: str) -> str:
    """A text that Prometheus' templates leave as it is."""
    return text.replace("{{", '{{ "{{" }}')


def _literal(name: str) -> str:
    """For a regular expression within double quotes; a job's name has no other special character."""
    return name.replace(".", r"\\.")


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def _seconds(span: timedelta) -> str:
    return f"{span.total_seconds():.0f}"
