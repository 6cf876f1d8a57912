"""What a Job and its pods say about a step, as the API of Kubernetes writes it."""

from __future__ import annotations

from typing import Any

import pytest

from activities.handlers.kubernetes.state import event_text, state_of

NOW = 1_800_000_000.0
"""2027-01-15T08:00:00Z."""
JOB: dict[str, Any] = {"metadata": {"name": "job", "uid": "1"}}


def pod(status: dict[str, Any], **meta: Any) -> dict[str, Any]:
    return {"metadata": {"name": "pod", **meta}, "spec": {"containers": [{"name": "main"}]}, "status": status}


def waiting(reason: str) -> dict[str, Any]:
    return {"phase": "Pending", "containerStatuses": [{"name": "main", "state": {"waiting": {"reason": reason}}}]}


def ends(**codes: int) -> list[dict[str, Any]]:
    return [
        {"name": name, "state": {"terminated": {"exitCode": code, "reason": "Error"}}} for name, code in codes.items()
    ]


DISRUPTED = {
    "type": "DisruptionTarget",
    "status": "True",
    "reason": "DeletionByTaintManager",
    "message": "Taint manager",
}


@pytest.mark.parametrize(
    ("status", "kind", "reason"),
    [
        ({"phase": "Pending"}, "pending", ""),
        (waiting("ContainerCreating"), "pending", ""),
        (waiting("ImagePullBackOff"), "pending", "ImagePullBackOff"),
        (waiting("InvalidImageName"), "pending", "InvalidImageName"),
        ({"phase": "Running"}, "running", ""),
        ({"phase": "Succeeded"}, "succeeded", ""),
        ({"phase": "Failed", "containerStatuses": ends(main=1)}, "failed", ""),
        ({"phase": "Failed", "reason": "DeadlineExceeded", "message": "Pod was active too long"}, "failed", "DeadlineExceeded: Pod was active too long"),
        ({"phase": "Failed", "conditions": [DISRUPTED], "containerStatuses": ends(main=143)}, "disrupted", "DeletionByTaintManager: Taint manager"),
        ({"phase": "Failed", "reason": "Evicted", "message": "The node was low on resource: memory."}, "disrupted", "Evicted: The node was low on resource: memory."),
        ({"phase": "Failed", "reason": "Evicted", "message": "Container main exceeds its local ephemeral storage limit"}, "failed", "Evicted: Container main exceeds its local ephemeral storage limit"),
        ({"phase": "Failed", "reason": "Terminated", "message": "node shutdown", "containerStatuses": ends(main=0)}, "disrupted", "Terminated: node shutdown"),
        ({"phase": "Failed"}, "disrupted", "its pod failed without a reason"),
    ],
)  # fmt: skip
def test_a_pod_says_where_its_step_is(status: dict[str, Any], kind: str, reason: str) -> None:
    state = state_of(JOB, [pod(status)], NOW)
    assert (state.kind, state.reason) == (kind, reason)


def test_the_exit_code_is_that_of_the_main_container_if_it_has_failed() -> None:
    both = {"phase": "Failed", "initContainerStatuses": ends(proxy=137), "containerStatuses": ends(main=3)}
    one = {"phase": "Failed", "containerStatuses": ends(main=0, helper=4)}
    states = [state_of(JOB, [pod(status)], NOW) for status in (both, one)]
    assert [(state.container, state.code) for state in states] == [("main", 3), ("helper", 4)]


@pytest.mark.parametrize(
    ("deleted", "conditions", "kind"),
    [
        ("2027-01-15T07:59:30Z", [], "ending"),
        ("2027-01-15T07:58:59Z", [], "disrupted"),
        ("2027-01-15T07:58:59Z", [DISRUPTED], "disrupted"),
        ("2027-01-15T08:00:20Z", [DISRUPTED], "ending"),
    ],
)
def test_a_pod_that_is_being_deleted_has_a_minute_after_its_grace(
    deleted: str, conditions: list[Any], kind: str
) -> None:
    status = {"phase": "Running", "conditions": conditions}
    assert state_of(JOB, [pod(status, deletionTimestamp=deleted)], NOW).kind == kind


def test_what_was_deleted_by_hand_is_gone_and_no_verdict() -> None:
    ended = pod({"phase": "Failed", "containerStatuses": ends(main=143)}, deletionTimestamp="2027-01-15T08:00:00Z")
    failed = {**JOB, "status": {"conditions": [{"type": "Failed", "status": "True", "reason": "BackoffLimitExceeded"}]}}
    states = [state_of(None, [], NOW), state_of(JOB, [ended], NOW), state_of(failed, [], NOW)]
    assert [state.kind for state in states] == ["gone"] * 3


def test_a_job_without_a_pod_is_taken_by_its_conditions() -> None:
    done = {**JOB, "status": {"conditions": [{"type": "Complete", "status": "True"}]}}
    late = {**JOB, "status": {"conditions": [{"type": "Failed", "status": "True", "reason": "DeadlineExceeded"}]}}
    deleted = {"metadata": {**JOB["metadata"], "deletionTimestamp": "2027-01-15T08:00:00Z"}}
    kinds = [state_of(job, [], NOW).kind for job in (JOB, done, late, deleted)]
    assert kinds == ["pending", "succeeded", "failed", "ending"]


def test_of_several_pods_the_one_that_is_not_being_deleted_counts() -> None:
    old = pod({"phase": "Running"}, deletionTimestamp="2027-01-15T08:00:00Z", creationTimestamp="2027-01-15T08:00:00Z")
    new = pod({"phase": "Pending"}, creationTimestamp="2027-01-15T07:00:00Z")
    assert state_of(JOB, [old, new], NOW).kind == "pending"


def test_the_newest_warning_is_told() -> None:
    events: list[dict[str, Any]] = [
        {
            "type": "Warning",
            "reason": "FailedCreate",
            "message": "exceeded quota",
            "lastTimestamp": "2027-01-15T08:00:00Z",
        },
        {"type": "Normal", "reason": "Scheduled", "message": "to node-1", "lastTimestamp": "2027-01-15T09:00:00Z"},
        {"type": "Warning", "reason": "Old", "message": "", "lastTimestamp": None, "eventTime": "2027-01-15T07:00:00Z"},
    ]
    assert (event_text(events), event_text([])) == ("FailedCreate: exceeded quota", "")
