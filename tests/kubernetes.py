"""A cluster in memory: kmock's Kubernetes API, and what the controllers and the kubelet would do, step by step as a test wants it.

Each Job that is sent to it is checked against the schemas of three Kubernetes versions.
"""

from __future__ import annotations

import asyncio
import json
import re
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import aiohttp.web
import attrs
import kmock
import kubernetes_validate  # type: ignore[import-untyped]  # the package has no types
import yaml

from tests.waiting import until

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping
    from pathlib import Path

NAMESPACE = "reports"
VERSIONS = ("1.31", "1.34", kubernetes_validate.latest_version())
JOBS, PODS, EVENTS = kmock.resource("batch/v1/jobs"), kmock.resource("v1/pods"), kmock.resource("v1/events")
Object = dict[str, Any]
_TICK = 0.005
_OF_ONE_RUN = re.compile(r"tickwright-[0-9a-f]{32}(-[0-9]+)?|job-[0-9a-f]{10}")


@dataclass
class Log:
    """The output of a container, and whether its node still has it."""

    data: bytearray = field(default_factory=bytearray)
    ended: bool = False
    gone: bool = False


@attrs.define(kw_only=True)
class Cluster(kmock.KubernetesEmulator):
    """The API. `faults` are asked before each request of a worker, `watch_ends` says how each watch ends, `cut` breaks logs off,
    and `slowness` is how many seconds it takes to make a Job.
    """

    problems: list[str] = attrs.field(factory=list, init=False)
    logs: dict[str, Log] = attrs.field(factory=dict, init=False)
    faults: Callable[[kmock.Request], Exception | None] = attrs.field(default=lambda _: None, init=False)
    watch_ends: Callable[[], str] = attrs.field(default=str, init=False)
    cut: Callable[[], bool] = attrs.field(default=bool, init=False)
    slowness: float = attrs.field(default=0.0, init=False)
    collecting: bool = attrs.field(default=True, init=False)
    sent: list[Object] = attrs.field(factory=list, init=False)
    used: set[tuple[str, str]] = attrs.field(factory=set, init=False)
    version: int = attrs.field(default=1, init=False)

    def __attrs_post_init__(self) -> None:
        super().__attrs_post_init__()
        for resource in (JOBS, PODS, EVENTS):
            self.resources[resource] = kmock.ResourceInfo()

    async def _handle(self, request: kmock.Request) -> aiohttp.web.StreamResponse:
        self._note(request)
        if fault := self.faults(request):
            raise fault
        if request.subresource == "log":
            return await self._serve_log(request)
        new = request.resource == JOBS and request.action == kmock.action.CREATE
        if new:
            await asyncio.sleep(self.slowness)
        if new and (answer := self._create(request)):
            return answer
        if request.resource == JOBS and request.action == kmock.action.DELETE:
            self._begin_deletion(request)
        return await super()._handle(request)

    def _note(self, request: kmock.Request) -> None:
        """The right that the request needs."""
        verb = str(request.action.value).lower() if request.action else ""
        verb = {"fetch": "get"}.get(verb, verb)
        thing = "/".join(filter(None, (request.resource.plural if request.resource else "", request.subresource)))
        self.used.add((str(thing), verb))

    def _create(self, request: kmock.Request) -> aiohttp.web.StreamResponse | None:
        job, meta = request.data, request.data["metadata"]
        self.sent.append(json.loads(request.text))
        self.problems += problems_of(_OF_ONE_RUN.sub("tickwright-0", request.text))
        if request.params.get("dryRun"):
            return aiohttp.web.json_response(job)
        meta |= {"uid": str(uuid4()), "creationTimestamp": stamp(), "namespace": request.namespace}
        return None

    def _begin_deletion(self, request: kmock.Request) -> None:
        assert request.data["propagationPolicy"] == "Foreground"
        job = self.objects[JOBS, NAMESPACE, str(request.name)]
        if request.data["preconditions"]["uid"] != job["metadata"]["uid"]:
            raise kmock.KubernetesError(409, "Conflict", "the UID in the precondition does not match")
        job.patch({"metadata": {"finalizers": ["foregroundDeletion"]}})

    async def _serve_list(self, request: kmock.Request) -> kmock.Payload:
        answer: Any = await super()._serve_list(request)
        return {**answer, "metadata": {"resourceVersion": str(self.version)}}

    async def _serve_watch(self, request: kmock.Request) -> AsyncIterator[kmock.Payload]:
        yield b""
        seen, ending = int(request.params["resourceVersion"]), self.watch_ends()
        while self.version == seen:
            if ending == "end":
                return
            if ending == "410":
                status = {"kind": "Status", "code": 410, "reason": "Expired", "message": "too old resource version"}
                yield {"type": "ERROR", "object": status}
                return
            await asyncio.sleep(_TICK)
        yield {"type": "MODIFIED", "object": {}}

    async def _serve_log(self, request: kmock.Request) -> aiohttp.web.StreamResponse:
        log, raw = self.logs.get(str(request.name), Log(gone=True)), request._raw_request
        if log.gone:
            raise kmock.KubernetesError(404, "NotFound", f"the log of {request.name} is not there")
        assert raw is not None
        response = aiohttp.web.StreamResponse()
        await response.prepare(raw)
        place = 0
        while True:
            new = bytes(log.data[place:])
            if new and self.cut():
                await response.write(new[: len(new) // 2])
                raise ConnectionResetError
            if new:
                await response.write(new)
            place += len(new)
            if (log.ended or request.params.get("follow") != "true") and place == len(log.data):
                return response
            await asyncio.sleep(_TICK)

    async def _stream_error(self, exc: Exception, raw_response: aiohttp.web.StreamResponse) -> None:
        if raw_response._req is not None and raw_response._req.transport is not None:
            raw_response._req.transport.abort()

    @property
    def jobs(self) -> list[Object]:
        """Those that are there, in the order of their making."""
        return self._there(JOBS)

    @property
    def pods(self) -> list[Object]:
        """Likewise."""
        return self._there(PODS)

    def _there(self, resource: kmock.resource) -> list[Object]:
        return [thing.raw for (kind, _, _), thing in self.objects.items() if kind == resource and not thing.deleted]

    def _put(self, resource: kmock.resource, thing: Object) -> None:
        key = (resource, NAMESPACE, thing["metadata"]["name"])
        if key in self.objects:
            self.objects[key].create(thing)
        else:
            self.objects[key] = thing
        self.version += 1

    def change(self, resource: kmock.resource, name: str, changes: Mapping[str, Any]) -> None:
        """Merge the changes into an object; lists are replaced."""
        self.objects[resource, NAMESPACE, name].patch(changes)
        self.version += 1

    def remove(self, resource: kmock.resource, name: str) -> None:
        """It vanishes."""
        self.objects[resource, NAMESPACE, name].delete()
        self.version += 1

    def put_job(self, name: str, annotations: Mapping[str, str]) -> None:
        """A Job that no step has made."""
        meta = {"name": name, "uid": str(uuid4()), "creationTimestamp": stamp(), "annotations": dict(annotations)}
        self._put(JOBS, {"metadata": meta})

    async def new_job(self, count: int = 1) -> Object:
        """The last of so many Jobs that are there, once they are."""
        await until(lambda: len(self.jobs) >= count)
        return self.jobs[-1]

    def add_pod(self, job: Object, **status: Any) -> str:
        """A pod of the Job, pending unless it is said otherwise; gives its name."""
        name, template = f"{job['metadata']['name']}-{uuid4().hex[:5]}", job["spec"]["template"]
        owner = {
            "apiVersion": "batch/v1",
            "kind": "Job",
            "name": job["metadata"]["name"],
            "uid": job["metadata"]["uid"],
        }
        meta: Object = {
            "name": name,
            "namespace": NAMESPACE,
            "uid": str(uuid4()),
            "creationTimestamp": stamp(),
            "ownerReferences": [owner],
        }
        meta["annotations"] = dict(template["metadata"]["annotations"])
        self._put(PODS, {"metadata": meta, "spec": dict(template["spec"]), "status": {"phase": "Pending", **status}})
        return name

    def run_pod(self, job: Object, output: str = "") -> str:
        """A pod that runs and has put out so much."""
        name = self.add_pod(job)
        self.logs[name] = Log(bytearray(output.encode()))
        self.change(PODS, name, {"status": {"phase": "Running"}})
        return name

    def say(self, pod: str, text: str) -> None:
        """More output."""
        self.logs[pod].data += text.encode()

    def end_pod(self, pod: str, code: int = 0, reason: str = "", container: str = "", **status: Any) -> None:
        """Its container ends; the status may say more."""
        if pod in self.logs:
            self.logs[pod].ended = True
        main = self.objects[PODS, NAMESPACE, pod]["spec"]["containers"][0]["name"]
        ended = {"exitCode": code, "reason": reason or ("Completed" if code == 0 else "Error")}
        phase = "Failed" if code else "Succeeded"
        ends = [{"name": container or main, "state": {"terminated": ended}}]
        self.change(PODS, pod, {"status": {"phase": phase, "containerStatuses": ends, **status}})

    def disrupt(self, pod: str, reason: str = "EvictionByEvictionAPI", message: str = "Eviction API: evicting") -> None:
        """The cluster takes the pod away."""
        target = {"type": "DisruptionTarget", "status": "True", "reason": reason, "message": message}
        self.end_pod(pod, 143, conditions=[target])

    def fail_job(self, job: Object, reason: str = "BackoffLimitExceeded") -> None:
        """What the Job controller says of it."""
        conditions = [{"type": "Failed", "status": "True", "reason": reason}]
        self.change(JOBS, job["metadata"]["name"], {"status": {"conditions": conditions}})

    def warn(self, uid: str, reason: str, message: str) -> None:
        """An event."""
        meta = {"name": uuid4().hex, "namespace": NAMESPACE}
        event = {
            "metadata": meta,
            "involvedObject": {"uid": uid},
            "type": "Warning",
            "reason": reason,
            "message": message,
        }
        self._put(EVENTS, {**event, "lastTimestamp": stamp()})

    async def collect_garbage(self) -> None:
        """Jobs that are being deleted lose their pods, and vanish; runs for ever."""
        while True:
            deleted = [job for job in self.jobs if job["metadata"].get("deletionTimestamp")]
            for job in deleted if self.collecting else ():
                for pod in [
                    pod for pod in self.pods if pod["metadata"]["ownerReferences"][0]["uid"] == job["metadata"]["uid"]
                ]:
                    self.remove(PODS, pod["metadata"]["name"])
                    self.logs.pop(pod["metadata"]["name"], Log()).ended = True
                self.remove(JOBS, job["metadata"]["name"])
            await asyncio.sleep(_TICK)


@cache
def problems_of(job: str) -> list[str]:
    """What the schemas say against a Job, as JSON."""
    found = []
    for version in VERSIONS:
        try:
            kubernetes_validate.validate(json.loads(job), version, strict=True)
        except kubernetes_validate.ValidationError as error:
            found.append(f"{version}: {error.message}")
    return found


def stamp(ago: float = 0.0) -> str:
    """Now, or so many seconds ago, as the API writes it."""
    return (datetime.now(UTC) - timedelta(seconds=ago)).isoformat(timespec="seconds").replace("+00:00", "Z")


def write_kubeconfig(file: Path, url: str) -> None:
    """Says where the cluster is."""
    named = {"name": "test"}
    config = {
        "current-context": "test",
        "clusters": [{**named, "cluster": {"server": url}}],
        "contexts": [{**named, "context": {"cluster": "test", "user": "test"}}],
        "users": [{**named, "user": {"token": "test"}}],
    }
    file.write_text(yaml.safe_dump(config))
