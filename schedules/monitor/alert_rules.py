"""Prometheus' alert rules for the jobs of a project, over what the monitor and the workers export. Pure.

Jobs with the same labels share each rule, whatever their thresholds: ten thousand jobs make a dozen rules, and no two rules have
the same name and labels, which `promtool check rules` takes for a mistake.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING, Any

from schedules.monitor.alert_rule import Rule, plain, quoted
from schedules.monitor.alert_rules_around import around_rules
from schedules.spec.labels import RUNBOOK, alert_labels
from schedules.text.duration import format_duration

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from datetime import timedelta

    from schedules.spec.alerts import AlertsSpec
    from schedules.spec.job import JobSpec
    from schedules.spec.project import Project

FAILED_FOR, HORIZON = 15 * 60, 30 * 24 * 3600
"""Seconds: for how long a failure is alerted of at least, and before what end of exactness."""
SHORTEST = 5
"""Seconds; what takes less is never slow."""
TREND = 1.5
JOB = "{{ $labels.job }}"
COUNTED = "24 hours (at most 200)"
"""What the monitor counts."""


def rule_file(project: Project) -> dict[str, Any]:
    """The document of a rule file, with one group for the project."""
    live = [job for job in project.jobs if job.mode == "live"]
    rules = [rule for jobs in _alike(live, _labels) for rule in _of_jobs(project.owner, jobs)]
    around = [
        rule.document({"owner": project.owner, **labels}, {"summary": rule.summary})
        for rule, labels in around_rules(project)
    ]
    return {"groups": [{"name": f"tickwright {project.owner}", "rules": [*rules, *around]}]}


def _alike(jobs: Iterable[JobSpec], by: Callable[[JobSpec], object]) -> Iterator[Sequence[JobSpec]]:
    """Jobs of which `by` gives the same."""

    def key(job: JobSpec) -> str:
        return repr(by(job))

    for _, group in groupby(sorted(jobs, key=lambda job: (key(job), job.name)), key):
        yield list(group)


def _labels(job: JobSpec) -> dict[str, str]:
    """Those that its alerts have."""
    return {name: plain(value) for name, value in alert_labels(job.labels).items()}


def _of_jobs(owner: str, jobs: Sequence[JobSpec]) -> Iterator[dict[str, Any]]:
    """The rules of jobs with the same labels: of each name one, true of any of them."""
    found: dict[str, dict[Rule, list[JobSpec]]] = {}
    for same in _alike(jobs, lambda job: job.alerts):
        for rule in _rules(_Series(owner, [""]), same[0].alerts):
            found.setdefault(rule.name, {}).setdefault(rule, []).extend(same)
    for name, alike in found.items():
        rules = [(_rule(name, owner, of), of) for of in alike.values()]
        whole = replace(rules[0][0], expr=" or ".join(rule.expr for rule, _ in rules))
        yield whole.document(_labels(jobs[0]), _annotations(rules))


def _rule(name: str, owner: str, jobs: Sequence[JobSpec]) -> Rule:
    series = _Series(owner, [job.name for job in jobs])
    return next(rule for rule in _rules(series, jobs[0].alerts) if rule.name == name)


def _rules(of: _Series, alerts: AlertsSpec) -> Sequence[Rule]:
    return (*_timely(of, alerts), *_well(of, alerts), *_as_declared(of))


def _annotations(rules: Sequence[tuple[Rule, Sequence[JobSpec]]]) -> dict[str, str]:
    texts: dict[str, dict[str, list[str]]] = {"summary": {}, "runbook_url": {}, "contact": {}}
    for rule, jobs in rules:
        for job in jobs:
            runbook = job.runbook or job.labels.get(RUNBOOK, "")
            for name, text in (
                ("summary", rule.summary),
                ("runbook_url", plain(runbook)),
                ("contact", plain(job.contact)),
            ):
                texts[name].setdefault(text, []).append(job.name)
    return {name: _by_job(jobs) for name, jobs in texts.items() if set(jobs) != {""}}


def _by_job(texts: Mapping[str, Sequence[str]]) -> str:
    """The text, or a template of Prometheus that gives each job its own."""
    if len(texts) == 1:
        return next(iter(texts))
    cases = [f"if eq $labels.job {' '.join(map(quoted, jobs))} }}}}{text}" for text, jobs in texts.items() if text]
    return "{{ " + "{{ else ".join(cases) + "{{ end }}"


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
        summary = f"{JOB} missed {{{{ $value }}}} of its times of the last {COUNTED}"
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
    summary = (
        f"{{{{ $value }}}} runs of {JOB} do not get on: their workflow tasks fail again and again, see the worker's log"
    )
    yield Rule("RunStuck", f"{of('stuck_runs')} > 0", "page", summary)
    if alerts.failure_rate is not None:
        summary = f"{{{{ $value | humanizePercentage }}}} of the runs of {JOB} failed, of the last {COUNTED}"
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


def _literal(name: str) -> str:
    """For a regular expression within double quotes; a job's name has no other special character."""
    return name.replace(".", r"\\.")


def _seconds(span: timedelta) -> str:
    return f"{span.total_seconds():.0f}"
