"""What a `kubernetes` step asks for, as the cluster takes it. Pure."""

from __future__ import annotations

from copy import deepcopy
from math import ceil
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from activities.contract import STOP_GRACE
from activities.handlers.lasting import KEY

if TYPE_CHECKING:
    from collections.abc import Mapping

DEFAULT_CONTAINER = "kubectl.kubernetes.io/default-container"
_OWN = {"app.kubernetes.io/managed-by": "tickwright"}
_PULL = {"missing": "IfNotPresent", "always": "Always", "never": "Never"}
_USUAL_GRACE = 30.0
_SLACK = 60
"""Seconds after the time of a step is over, in which a worker ends its Job; then the cluster does."""


class KubernetesParams(BaseModel):
    """An image and how it is run, or a whole pod template in their stead."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    namespace: str = Field(min_length=1)
    image: str = ""
    command: tuple[str, ...] = ()
    args: tuple[str, ...] = ()
    env: dict[str, str] = Field(default_factory=dict)
    secrets: dict[str, str] = Field(default_factory=dict)
    memory: str | None = None
    cpus: float | None = None
    resources: dict[str, Any] = Field(default_factory=dict)
    service_account: str = ""
    node_selector: dict[str, str] = Field(default_factory=dict)
    image_pull_secrets: tuple[str, ...] = ()
    pull: Literal["missing", "always", "never"] | None = None
    template: dict[str, Any] | None = None
    template_file: str = ""
    permanent_exit_codes: tuple[int, ...] = ()
    keep_failed: float = 86_400.0

    def pod(self) -> dict[str, Any]:
        """The pod template, without what every Job of ours has, and without what makes it a Pod."""
        given = self.template or {"spec": self._spec()}
        return {key: deepcopy(given[key]) for key in ("metadata", "spec") if key in given}

    def _spec(self) -> dict[str, Any]:
        env: list[dict[str, Any]] = [{"name": name, "value": value} for name, value in self.env.items()]
        for name, place in self.secrets.items():
            secret, _, key = place.partition("/")
            env.append({"name": name, "valueFrom": {"secretKeyRef": {"name": secret, "key": key}}})
        limits = {"memory": self.memory, "cpu": f"{self.cpus:g}" if self.cpus else None}
        limits = {name: value for name, value in limits.items() if value}
        container = {
            "name": "main",
            "image": self.image,
            "command": list(self.command),
            "args": list(self.args),
            "env": env,
            "resources": self.resources or ({"limits": limits, "requests": limits} if limits else {}),
            "imagePullPolicy": _PULL.get(self.pull or "", ""),
        }
        spec = {
            "terminationGracePeriodSeconds": round(STOP_GRACE),
            "containers": [{name: value for name, value in container.items() if value}],
            "serviceAccountName": self.service_account,
            "nodeSelector": self.node_selector,
            "imagePullSecrets": [{"name": name} for name in self.image_pull_secrets],
        }
        given = {name: value for name, value in spec.items() if value}
        return given if self.service_account else {**given, "automountServiceAccountToken": False}


def main_container(template: Mapping[str, Any]) -> dict[str, Any]:
    """The container of a pod or a template whose output and exit code count: the first, unless an annotation names another."""
    containers: list[dict[str, Any]] = template["spec"]["containers"]
    named = ((template.get("metadata") or {}).get("annotations") or {}).get(DEFAULT_CONTAINER)
    return next((each for each in containers if each["name"] == named), containers[0])


def grace_of(request: KubernetesParams) -> float:
    """Seconds that its pod has to end by itself."""
    return float(request.pod()["spec"].get("terminationGracePeriodSeconds", _USUAL_GRACE))


def image_of(request: KubernetesParams) -> str:
    """That of the main container."""
    return str(main_container(request.pod()).get("image", ""))


def job_of(
    request: KubernetesParams, name: str, notes: Mapping[str, str], environment: Mapping[str, str], timeout: float
) -> dict[str, Any]:
    """The Job as the cluster is sent it: one pod, which nothing but a step starts again.

    `notes` become annotations, `environment` variables of the main container, `timeout` is in seconds.
    """
    template = request.pod()
    main, meta = main_container(template), template.get("metadata") or {}
    own = main.get("env") or []
    taken = {each["name"] for each in own}
    facts = [{"name": name, "value": value} for name, value in environment.items() if name not in taken]
    main["env"] = [*facts, *own]  # First, so that the template's own may refer to them.
    annotations = {**(meta.get("annotations") or {}), **notes}
    template["metadata"] = {"labels": {**(meta.get("labels") or {}), **_OWN}, "annotations": annotations}
    template["spec"]["restartPolicy"] = "Never"
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name, "namespace": request.namespace, "labels": _OWN, "annotations": dict(notes)},
        "spec": {
            "backoffLimit": 0,
            "activeDeadlineSeconds": ceil(timeout) + _SLACK,
            "ttlSecondsAfterFinished": ceil(request.keep_failed),
            "template": template,
        },
    }


def notes_of(key: str, job: str, step: str) -> dict[str, str]:
    """The annotations by which a Job is known as that of a step."""
    return {KEY: key, "tickwright.job": job, "tickwright.step": step}
