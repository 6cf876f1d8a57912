"""The Job of one attempt at a step: found or made under its name, and deleted."""

from __future__ import annotations

import asyncio
import time
from http import HTTPStatus
from typing import TYPE_CHECKING

import structlog

from activities.contract import BACKSTOP
from activities.errors import HandlerError
from activities.handlers.command import facts_of
from activities.handlers.kubernetes.cluster import ClusterError
from activities.handlers.kubernetes.params import grace_of, image_of, job_of, notes_of
from activities.handlers.kubernetes.pending import Pending
from activities.handlers.kubernetes.state import state_of
from activities.handlers.lasting import KEY, name_of

if TYPE_CHECKING:
    from activities.handlers.kubernetes.cluster import Cluster, Object
    from activities.handlers.kubernetes.params import KubernetesParams
    from activities.steps.attempt import Attempt

_log: structlog.stdlib.BoundLogger = structlog.get_logger()
PAUSE, QUOTA_PAUSE = 0.3, 10.0
"""Seconds between two looks at the least, and between two tries of a Job for which there is no room."""
_SLACK = 3.0
"""Seconds that the cluster may need to delete a Job whose pods have ended, and that a worker needs at the end of a step."""


class OwnJob:
    """`used` is how many names of Jobs of the step are used up; `adopted`, whether it is that of an earlier attempt."""

    def __init__(self, cluster: Cluster, request: KubernetesParams, attempt: Attempt, used: int) -> None:
        self._cluster, self._request, self._attempt, self.used = cluster, request, attempt, used
        self._until = time.monotonic() + attempt.call.step.timeout + BACKSTOP - _SLACK
        self.found: Object | None = None
        self.adopted = False
        self._creating: asyncio.Task[Object | None] | None = None
        self._deletion: asyncio.Task[None] | None = None

    @property
    def name(self) -> str:
        """The name under which it is, or is going to be."""
        return name_of(self._attempt.idempotency_key, self.used)

    @property
    def may_be_there(self) -> bool:
        """Whether this attempt has found it, or has asked for it."""
        return bool(self.found or self._creating)

    async def predecessor_gone(self) -> None:
        """Of a failed attempt whose Job is still being deleted, nothing may run beside this one."""
        name = name_of(self._attempt.idempotency_key, self.used - 1) if self.used else ""
        while name and (job := await self._cluster.job(name)) and job["metadata"].get("deletionTimestamp"):
            if state_of(job, (await self._cluster.pods(job))[0], time.time()).kind == "disrupted":
                return  # Its node does not answer, and may never.
            await asyncio.sleep(PAUSE)

    async def ready(self) -> Object:
        """The Job, that of an earlier attempt or a new one. Raises HandlerError."""
        pending = Pending(self._attempt)
        while self.found is None:
            job = await self._cluster.job(self.name)
            if job is None:
                self.found = await self._made(pending)
            elif not self._is_own(job):
                raise HandlerError(f"there is a Job `{self.name}` that is none of this step; delete it", permanent=True)
            elif job["metadata"].get("deletionTimestamp"):
                await asyncio.sleep(PAUSE)
            else:
                _log.info("goes on with the Job of an earlier attempt", job_name=self.name)
                self.found, self.adopted = job, True
        self._attempt.evidence["kubernetes"] = f"{self._request.namespace}/{self.name}"
        return self.found

    async def _made(self, pending: Pending) -> Object | None:
        """None where another attempt has made it meanwhile, or there is no room for it yet."""
        attempt, request = self._attempt, self._request
        notes = notes_of(attempt.idempotency_key, attempt.call.job, attempt.call.step.name)
        manifest = job_of(request, self.name, notes, facts_of(attempt), attempt.call.step.timeout)
        self._creating = asyncio.create_task(self._cluster.create(manifest))
        try:
            job = await asyncio.shield(self._creating)
        except ClusterError as error:
            if error.status != HTTPStatus.FORBIDDEN or "exceeded quota" not in error.message:
                raise
            pending.check(error.message)
            await asyncio.sleep(QUOTA_PAUSE)
            return None
        if job is not None:
            _log.info("Job created", job_name=self.name, namespace=request.namespace, image=image_of(request))
        return job

    def _is_own(self, job: Object) -> bool:
        return (job["metadata"].get("annotations") or {}).get(KEY) == self._attempt.idempotency_key

    async def lost(self) -> None:
        """Its pod was taken away: the next one is another, with another name if this one is taken."""
        self.used += bool(await self._cluster.job(self.name))
        self.found, self.adopted, self._creating = None, False, None

    async def settled(self) -> None:
        """Wait until it is there, if it has been asked for."""
        if self._creating:
            await asyncio.gather(self._creating, return_exceptions=True)

    async def end(self) -> None:
        """Delete it and see it gone, once, whatever else happens to the attempt."""
        self._deletion = self._deletion or asyncio.create_task(self._deleted())
        await asyncio.shield(self._deletion)

    async def _deleted(self) -> None:
        await self.settled()
        left = max(self._until - time.monotonic(), 0.0)  # Then Temporal takes the step for lost.
        try:
            async with asyncio.timeout(min(grace_of(self._request) + 3 * _SLACK, left)):
                job = self.found or await self._cluster.job(self.name)
                if job and self._is_own(job):
                    await self._cluster.delete(job)
                    await self._gone(job)
        except TimeoutError:
            _log.warning("its Job is still being deleted", job_name=self.name)
        except (ClusterError, HandlerError) as error:
            _log.warning("its Job cannot be deleted", job_name=self.name, error=error.message)

    async def _gone(self, job: Object) -> None:
        while True:
            left = await self._cluster.job(self.name)
            if left is None or left["metadata"]["uid"] != job["metadata"]["uid"]:
                return
            await asyncio.sleep(PAUSE)
