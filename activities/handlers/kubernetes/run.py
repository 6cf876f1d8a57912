"""The handler: one Job for a step, by a name that every attempt finds again."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from activities.errors import HandlerError
from activities.handlers.kubernetes.params import KubernetesParams, job_of, notes_of
from activities.handlers.lasting import KEPT_AFTER_END, Afterwards, name_of
from activities.steps.params import parse_params

if TYPE_CHECKING:
    from activities.handlers.kubernetes.cluster import Cluster, Object
    from activities.handlers.table import Parts
    from activities.steps.attempt import Attempt

NO_EXTRA = "lightkube is not installed on this worker; install `tickwright[kubernetes]`"
_TRIAL_SECONDS = 3.0


class KubernetesHandler:
    """Runs Jobs in the namespaces that the worker's settings name."""

    def __init__(self, parts: Parts) -> None:
        self._namespaces = parts.kubernetes_namespaces
        self._outputs = parts.outputs
        self._afterwards = Afterwards()

    def problem(self, params: dict[str, Any]) -> str:
        """See Handler."""
        if params["namespace"] not in self._namespaces:
            allowed = ", ".join(self._namespaces) or "none"
            return (
                f"Jobs in the namespace `{params['namespace']}` are not allowed on this worker; "
                f"TICKWRIGHT_KUBERNETES_NAMESPACES allows: {allowed}"
            )
        return "" if find_spec("lightkube") else NO_EXTRA

    async def trial(self, params: dict[str, Any]) -> str:
        """See Trying: whether the cluster would take such a Job."""
        if problem := self.problem(params):
            return problem
        request = parse_params(KubernetesParams, params)
        cluster = await _cluster(request.namespace, patience=_TRIAL_SECONDS)
        from activities.handlers.kubernetes.cluster import ClusterError

        try:
            name = name_of("trial")
            await cluster.create(job_of(request, name, notes_of("trial", "trial", "trial"), {}, 1.0), dry_run=True)
        except ClusterError as error:
            return error.message
        finally:
            await cluster.close()
        return ""

    async def run(self, params: dict[str, Any], attempt: Attempt) -> dict[str, Any]:
        """`{"exit_code": 0, "stdout": …, "stderr": ""}` and the keys of the last line, as a command gives. Raises HandlerError.

        Cancelled or out of time, it deletes the Job and waits until it is gone. Where the attempt goes on in another worker, the
        Job does, too.
        """
        if problem := self.problem(params):
            raise HandlerError(problem, permanent=True)
        request = parse_params(KubernetesParams, params)
        cluster = await _cluster(request.namespace)
        from activities.handlers.kubernetes.cluster import ClusterError
        from activities.handlers.kubernetes.step import KubernetesStep, refused

        step = KubernetesStep(cluster, request, attempt, self._outputs)
        try:
            output = await step.run()
            if job := step.own.found:
                self._afterwards.later(_delete(request.namespace, job), KEPT_AFTER_END)
        except ClusterError as error:
            failure = refused(error)
        else:
            return output
        finally:
            step.close()
            await cluster.close()
        raise failure


async def _cluster(namespace: str, **options: float) -> Cluster:
    """Lightkube is loaded in a thread: it takes half a second. Raises HandlerError."""
    module = await asyncio.to_thread(import_module, "activities.handlers.kubernetes.cluster")
    cluster: Cluster = module.Cluster(namespace, **options)
    return cluster


async def _delete(namespace: str, job: Object) -> None:
    """A Job that has succeeded; where that fails, the cluster does it after its time."""
    cluster = await _cluster(namespace)
    from activities.handlers.kubernetes.cluster import ClusterError

    try:
        with suppress(ClusterError, HandlerError):
            await cluster.delete(job)
    finally:
        await cluster.close()
