"""What a Job and its pods say about the step. Pure.

A pod of ours runs once: whether a pod that failed is the job's failure, or the cluster's, is read here.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal

from activities.handlers.kubernetes.params import main_container

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from activities.handlers.kubernetes.cluster import Object

Kind = Literal["pending", "running", "ending", "succeeded", "failed", "disrupted", "gone"]
OVER = frozenset({"succeeded", "failed", "disrupted", "gone"})
_AT_ONCE = frozenset({"InvalidImageName", "ErrImageNeverPull", "CreateContainerConfigError"})
_OF_PULLS = frozenset({"ErrImagePull", "ImagePullBackOff", "ImageInspectError", "RegistryUnavailable"})
_NOT_STARTED = frozenset({"StartError", "ContainerCannotRun"})
_BY_CLUSTER = (
    "Evicted",
    "Preempt",
    "Shutdown",
    "NodeShutdown",
    "NodeLost",
    "NodeAffinity",
    "Terminated",
    "OutOf",
    "Unexpected",
)
"""How the reasons of pods begin that the cluster took away, or never began."""
_BY_HAND = "its pod was deleted by somebody"
_SILENT_SECONDS = 60.0
"""After the end of its grace, in which a node has to say that a pod has ended."""


@dataclass(frozen=True)
class State:
    """Where the step is. `disrupted` and `gone` are no verdict on the job: its pod was taken away by the cluster, or by somebody."""

    kind: Kind
    reason: str = ""
    #: No further attempt can mend it.
    permanent: bool = False
    #: Its image cannot be pulled, which may pass.
    pull: bool = False
    pod: str = ""
    #: Whose output is to be read; empty where there is none.
    container: str = ""
    #: The exit code of a failure, where a container gave one.
    code: int | None = None
    out_of_memory: bool = False


def state_of(job: Object | None, pods: Sequence[Object], now: float) -> State:
    """`now` is in seconds of Unix time."""
    if job is None:
        return State("gone", "its Job was deleted by somebody")
    if pods:
        newest = max(pods, key=lambda pod: (not _deleted(pod), str(pod["metadata"].get("creationTimestamp", ""))))
        return _of_pod(newest, now)
    conditions = dict(_conditions(job))
    if "Complete" in conditions:
        return State("succeeded", "its pod is gone, and its output with it")
    if failed := conditions.get("Failed"):
        if failed.get("reason") == "DeadlineExceeded":
            return State("failed", "timed out, and the cluster ended it")
        return State("gone", _BY_HAND)
    return State("ending" if _deleted(job) else "pending")


def _of_pod(pod: Object, now: float) -> State:
    name, phase, main = pod["metadata"]["name"], pod.get("status", {}).get("phase"), main_container(pod)["name"]
    if phase == "Succeeded":
        return State("succeeded", pod=name, container=main)
    if phase == "Failed":
        return _failed(pod, name, main)
    if _deleted(pod):
        silent = now - datetime.fromisoformat(pod["metadata"]["deletionTimestamp"]).timestamp()
        if silent < _SILENT_SECONDS:
            return State("ending", pod=name, container=main)
        return State("disrupted", "its node does not answer; its pod may still run there", pod=name)
    if phase == "Running":
        return State("running", pod=name, container=main)
    return _pending(pod, name)


def _pending(pod: Object, name: str) -> State:
    for status in _statuses(pod):
        waiting = status.get("state", {}).get("waiting") or {}
        reason = str(waiting.get("reason", ""))
        if reason in _AT_ONCE | _OF_PULLS:
            words = _words(reason, waiting.get("message"))
            return State("pending", words, permanent=reason in _AT_ONCE, pull=reason in _OF_PULLS, pod=name)
    for kind, condition in _conditions(pod, "False"):
        if kind == "PodScheduled":
            return State("pending", _of_condition(condition), pod=name)
    return State("pending", pod=name)


def _failed(pod: Object, name: str, main: str) -> State:
    status = pod["status"]
    reason, message = str(status.get("reason", "")), str(status.get("message", ""))
    target = dict(_conditions(pod)).get("DisruptionTarget")
    if target or (reason.startswith(_BY_CLUSTER) and "exceeds" not in message):  # its own limits, or those of its node
        return State("disrupted", _words(reason, message) or _of_condition(target), pod=name, container=main)
    if _deleted(pod):
        return State("gone", _BY_HAND, pod=name, container=main)
    if reason:
        return State("failed", _words(reason, message), pod=name, container=main)
    ended = [(each["name"], (each.get("state") or {}).get("terminated") or {}) for each in _statuses(pod)]
    bad = sorted(((who, end) for who, end in ended if end.get("exitCode")), key=lambda pair: pair[0] != main)
    if not bad:
        return State("disrupted", "its pod failed without a reason", pod=name)
    who, end = bad[0]
    if end.get("reason") in _NOT_STARTED:
        return State("failed", str(end.get("message") or end["reason"]), permanent=True, pod=name)
    oom = end.get("reason") == "OOMKilled"
    return State("failed", pod=name, container=who, code=int(end["exitCode"]), out_of_memory=oom)


def event_text(events: Iterable[Object]) -> str:
    """The newest warning, which says why a pod is not there, or does not run; empty for none."""
    warnings = [each for each in events if each.get("type") == "Warning"]
    newest = max(warnings, key=lambda each: str(each.get("lastTimestamp") or each.get("eventTime") or ""), default=None)
    return _words(newest.get("reason"), newest.get("message")) if newest else ""


def _statuses(pod: Object) -> Iterator[Object]:
    for key in ("initContainerStatuses", "containerStatuses"):
        yield from pod.get("status", {}).get(key) or ()


def _conditions(thing: Object, status: str = "True") -> Iterator[tuple[str, Object]]:
    for each in thing.get("status", {}).get("conditions") or ():
        if each.get("status") == status:
            yield each["type"], each


def _deleted(thing: Object) -> bool:
    return bool(thing["metadata"].get("deletionTimestamp"))


def _of_condition(condition: Object | None) -> str:
    return _words(condition.get("reason"), condition.get("message")) if condition else ""


def _words(reason: Any, message: Any) -> str:
    return ": ".join(str(part) for part in (reason, message) if part)
