"""The part of the Kubernetes API that steps need.

The way to the cluster (kubeconfig, service account, tokens that change, TLS) is lightkube's. The objects are plain JSON, since
lightkube's models would drop the fields of a pod template that are newer than they are, and its logs are lines without their bytes.
"""

from __future__ import annotations

import asyncio
import json
import os
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from http import HTTPStatus
from typing import Any

import httpx2
import structlog
from lightkube.config.client_adapter import AsyncClient, ConnectionParams
from lightkube.config.kubeconfig import KubeConfig

from activities.errors import HandlerError

_log: structlog.stdlib.BoundLogger = structlog.get_logger()
_ANSWER_SECONDS = 10.0
_PAUSE, _LONGEST_PAUSE, _PATIENCE = 0.5, 10.0, 120.0
"""Between two tries of a request that got no answer, at first and at most, and for how long it is tried."""
_REFUSED_SECONDS = 5.0
_UNTIMED = httpx2.Timeout(_ANSWER_SECONDS, read=None)
_STRICT = {"fieldValidation": "Strict"}
Object = dict[str, Any]


class ClusterError(Exception):
    """An answer that tells of a fault: its status and its message."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status, self.message = status, message

    @property
    def passes(self) -> bool:
        """Whether the server is busy or broken for now."""
        return self.status == HTTPStatus.TOO_MANY_REQUESTS or self.status >= HTTPStatus.INTERNAL_SERVER_ERROR


class Cluster:
    """A session with a cluster, for one namespace; close it.

    Every call raises ClusterError, and HandlerError where no answer comes for a while.
    """

    def __init__(self, namespace: str, *, patience: float = _PATIENCE) -> None:
        """The cluster of KUBECONFIG, else that which the worker's pod is in, else that of ~/.kube/config. Raises HandlerError."""
        try:
            file = os.environ.get("KUBECONFIG")
            config = (KubeConfig.from_file(file) if file else KubeConfig.from_env()).get()
            if config is None:
                raise ValueError("no current context is set")  # noqa: TRY301 - told like what lightkube says
            self._http = AsyncClient(config, ConnectionParams(timeout=httpx2.Timeout(_ANSWER_SECONDS)))
        except Exception as error:
            message = f"there is no way to a cluster: {error or type(error).__name__}; give the worker a service account, or KUBECONFIG"
            raise HandlerError(message, kind="no cluster") from error
        self._namespace, self._patience = namespace, patience

    async def close(self) -> None:
        """Let go of its connections."""
        await self._http.aclose()

    async def create(self, job: Object, *, dry_run: bool = False) -> Object | None:
        """The new Job; None where one has the name already. Unknown fields are refused."""
        query = _STRICT | ({"dryRun": "All"} if dry_run else {})
        try:
            made: Object = await self._json("POST", self._jobs(), query, job)
        except ClusterError as error:
            if error.status == HTTPStatus.CONFLICT:
                return None
            raise
        return made

    async def job(self, name: str) -> Object | None:
        """The Job of that name; None for none."""
        try:
            found: Object = await self._json("GET", f"{self._jobs()}/{name}")
        except ClusterError as error:
            if error.status == HTTPStatus.NOT_FOUND:
                return None
            raise
        return found

    async def delete(self, job: Object) -> None:
        """Delete this very Job, after its pods; one that is gone is no fault."""
        options = {"propagationPolicy": "Foreground", "preconditions": {"uid": job["metadata"]["uid"]}}
        try:
            await self._json("DELETE", f"{self._jobs()}/{job['metadata']['name']}", body=options)
        except ClusterError as error:
            if error.status not in {HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT}:
                raise

    async def pods(self, job: Object) -> tuple[list[Object], str]:
        """The pods of the Job, and the version of the cluster in which they are so."""
        found = await self._json("GET", self._core("pods"), {"labelSelector": _selector(job)})
        uid = job["metadata"]["uid"]
        own = [pod for pod in found["items"] if any(owner["uid"] == uid for owner in _owners(pod))]
        return own, str(found["metadata"].get("resourceVersion", ""))

    async def events(self, uid: str) -> list[Object]:
        """What the cluster has noted about an object."""
        found = await self._json("GET", self._core("events"), {"fieldSelector": f"involvedObject.uid={uid}"})
        return list(found["items"])

    async def changed(self, job: Object, version: str, seconds: float) -> None:
        """Wait until a pod of the Job changes, but no longer; a watch that ends or is refused is no fault: look again."""
        query = {"labelSelector": _selector(job), "watch": "true", "resourceVersion": version}
        query["timeoutSeconds"] = str(max(round(seconds), 1))
        try:
            async with asyncio.timeout(seconds), self._stream(self._core("pods"), query) as response:
                async for line in response.aiter_lines():
                    if line.strip():
                        return
        except TimeoutError:
            return
        except (ClusterError, httpx2.HTTPError):
            await asyncio.sleep(min(seconds, _REFUSED_SECONDS))

    async def log(self, pod: str, container: str, *, follow: bool) -> AsyncIterator[tuple[str, bytes]]:
        """The output of a container from the beginning, both streams as stdout; with `follow` until it ends."""
        query = {"container": container, "follow": "true" if follow else "false"}
        async with self._stream(self._core("pods", pod, "log"), query) as response:
            async for data in response.aiter_bytes():
                yield "stdout", data

    @asynccontextmanager
    async def _stream(self, path: str, query: dict[str, str]) -> AsyncIterator[httpx2.Response]:
        async with self._http.stream("GET", path, params=query, timeout=_UNTIMED) as response:
            if response.is_error:
                await response.aread()
                raise _fault(response)
            yield response

    async def _json(self, method: str, path: str, query: dict[str, str] | None = None, body: Any = None) -> Any:
        """The answer. One that does not come is asked for again: names make each request the same twice."""
        began, pause = time.monotonic(), _PAUSE
        while True:
            try:
                response = await self._http.request(method, path, params=query, json=body)
            except httpx2.TransportError as error:
                trouble = str(error) or type(error).__name__
            else:
                if not response.is_error:
                    return response.json()
                fault = _fault(response)
                if not fault.passes:
                    raise fault
                trouble = fault.message
            if time.monotonic() - began > self._patience:
                raise HandlerError(f"the cluster's API does not answer: {trouble}", kind="no answer")
            _log.warning("the cluster's API does not answer", error=trouble)
            await asyncio.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)

    def _jobs(self) -> str:
        return f"apis/batch/v1/namespaces/{self._namespace}/jobs"

    def _core(self, *path: str) -> str:
        return "/".join(("api/v1/namespaces", self._namespace, *path))


def _selector(job: Object) -> str:
    return f"job-name={job['metadata']['name']}"


def _owners(pod: Object) -> list[Object]:
    return list(pod["metadata"].get("ownerReferences") or ())


def _fault(response: httpx2.Response) -> ClusterError:
    try:
        message = str(json.loads(response.text)["message"])
    except (ValueError, KeyError, TypeError):
        message = response.text.strip() or response.reason_phrase
    return ClusterError(response.status_code, message)
