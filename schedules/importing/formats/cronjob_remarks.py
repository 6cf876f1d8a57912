"""What is to be said of a CronJob: its policies in words, and what has no word here. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from schedules.importing.old_job import Policy, Remark

OVERLAPS: Final = {"Allow": "allow_all", "Forbid": "skip", "Replace": "cancel_other"}
DEFAULT_BACKOFF_LIMIT: Final = 6
NO_NAMESPACE: Final = "default"
"""Stands where a manifest names none."""


def remarks_of(spec: Mapping[str, Any], job_spec: Mapping[str, Any], pod: Mapping[str, Any]) -> Iterator[Remark]:
    """Everything about a CronJob that will be different, or needs an answer."""
    if not spec.get("timeZone") and not str(spec.get("schedule", "")).startswith(("CRON_TZ=", "TZ=")):
        yield Remark(
            "timezone",
            "changed",
            "it has no timeZone, so it follows the zone of the cluster's controller; here it has the one that you gave",
        )
    if "successfulJobsHistoryLimit" in spec or "failedJobsHistoryLimit" in spec:
        yield Remark(
            "history-limits",
            "changed",
            "history limits: here Temporal keeps each run as long as the namespace's retention says",
        )
    if str(spec.get("schedule", "")).startswith("@every"):
        yield Remark(
            "phase",
            "changed",
            "@every counts from when the controller started the job last; here it counts from midnight UTC on, whatever ran",
        )
    if pod.get("restartPolicy") == "OnFailure":
        yield Remark(
            "restart-policy",
            "changed",
            "restartPolicy OnFailure starts the container again in its pod; here each attempt is a new start",
        )
    for key in ("parallelism", "completions"):
        if isinstance(job_spec.get(key), int) and job_spec[key] > 1:
            yield Remark(
                "parallelism",
                "question",
                f"{key}: {job_spec[key]}: several pods are no single run; is it one job, or that many?",
            )
            break
    yield from _pod_remarks(job_spec, pod)


def where_of(namespace: Any, pod: Mapping[str, Any]) -> Iterator[Remark]:
    """Where it runs, and what it runs there."""
    if not containers_of(pod):
        yield Remark("image", "question", "it has no container with an image: what does it run?")
    if not namespace:
        yield Remark("namespace", "question", "it has no namespace: in which one does it run?")
        return
    yield Remark(
        "namespace", "kept", f"it runs in {namespace}: its workers need TICKWRIGHT_KUBERNETES_NAMESPACES={namespace}"
    )


def containers_of(pod: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Those that can be run."""
    given = pod.get("containers")
    return [each for each in given if isinstance(each, dict) and each.get("image")] if isinstance(given, list) else []


def _pod_remarks(job_spec: Mapping[str, Any], pod: Mapping[str, Any]) -> Iterator[Remark]:
    containers = containers_of(pod)
    if len(containers) > 1:
        others = ", ".join(str(each.get("name", "")) for each in containers[1:])
        yield Remark("sidecar", "question", f"it has further containers ({others}): are they needed for the run?")
    for key, what in (("podFailurePolicy", "podFailurePolicy"), ("completionMode", "completionMode: Indexed")):
        if job_spec.get(key) not in (None, "NonIndexed"):
            yield Remark("pod-policy", "question", f"{what} has no word here")


def policies_of(spec: Mapping[str, Any], job_spec: Mapping[str, Any]) -> tuple[Policy, ...]:
    """Its policies as they were and as they will be."""
    policy = str(spec.get("concurrencyPolicy") or "Allow")
    attempts = backoff_limit(job_spec) + 1
    deadline = spec.get("startingDeadlineSeconds")
    return (
        Policy("overlap", f"concurrencyPolicy: {policy}", f"overlap: {OVERLAPS.get(policy, 'allow_all')}"),
        Policy(
            "missed runs",
            f"the newest missed run starts{f' within {deadline} s' if deadline else ''}, and none after 100 missed ones",
            "catchup: run_latest" + (", start_deadline" if deadline else ""),
        ),
        Policy("retries", f"backoffLimit {attempts - 1}: {attempts} attempts", f"retry.max_attempts: {attempts}"),
        Policy(
            "timeout",
            "activeDeadlineSeconds bounds all attempts together" if job_spec.get("activeDeadlineSeconds") else "none",
            "deadline, and the timeout that you gave for an attempt"
            if job_spec.get("activeDeadlineSeconds")
            else "the timeout that you gave for an attempt",
        ),
        Policy("notices", "none", "none, until you add `on_failure`"),
    )


def backoff_limit(job_spec: Mapping[str, Any]) -> int:
    """How often a failed pod is replaced, Kubernetes' default where nothing is said."""
    limit = job_spec.get("backoffLimit")
    return limit if isinstance(limit, int) and limit >= 0 else DEFAULT_BACKOFF_LIMIT


def mapping_of(data: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    """A mapping within another, empty where there is none."""
    value = data.get(key)
    return value if isinstance(value, dict) else {}
