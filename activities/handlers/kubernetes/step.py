"""One attempt at a step that is a Job: followed, and judged."""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from datetime import datetime
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

import httpx2
import structlog

from activities.errors import HandlerError
from activities.handlers.command import last_line
from activities.handlers.kubernetes.cluster import ClusterError
from activities.handlers.kubernetes.own_job import PAUSE, OwnJob
from activities.handlers.kubernetes.params import image_of, main_container
from activities.handlers.kubernetes.pending import Pending
from activities.handlers.kubernetes.state import OVER, state_of
from activities.handlers.lasting import goes_on_elsewhere, last_of
from activities.handlers.log_output import Output
from activities.handlers.verdict import ended_badly
from activities.steps.heartbeats import LIVE

if TYPE_CHECKING:
    from activities.handlers.kubernetes.cluster import Cluster, Object
    from activities.handlers.kubernetes.params import KubernetesParams
    from activities.handlers.kubernetes.state import State
    from activities.steps.attempt import Attempt
    from activities.steps.sinks import Sink

_log: structlog.stdlib.BoundLogger = structlog.get_logger()
MOST_LOSSES = {"disrupted": 5, "gone": 1}
"""How often a pod that was taken away, by the cluster or by somebody, is started again within one attempt."""
_WATCH_SECONDS, _PENDING_SECONDS = 60.0, 10.0
"""Between two looks at the most: while the pod runs, and before."""
_LOG_SECONDS, _FOLLOW_PAUSE = 10.0, 1.0


class KubernetesStep:
    """`run` does it once.

    The details of its heartbeats, for the next attempt: `used`, how many names of Jobs are used up; `disrupted` and `gone`, how many
    pods this attempt has lost so far; and after a drain `shown`, the bytes of the log of the Job `uid` that people have been shown.
    """

    def __init__(self, cluster: Cluster, request: KubernetesParams, attempt: Attempt, sink: Sink | None) -> None:
        self._cluster, self._request, self._attempt, self._sink = cluster, request, attempt, sink
        self._last = last_of(attempt)
        self.own = OwnJob(cluster, request, attempt, int(self._last.get("used", 0)))
        self._losses = {kind: int(self._last.get(kind, 0)) for kind in MOST_LOSSES}
        self._output = Output({}, None)
        self._following: asyncio.Task[None] | None = None

    def close(self) -> None:
        """Reads no further, and gives the room of the output back."""
        self._read_no_further()
        self._output.close()

    async def run(self) -> dict[str, Any]:
        """See KubernetesHandler.run."""
        self._attempt.live = lambda: self._output.ends(self._attempt.redactor, LIVE)
        try:
            await self.own.predecessor_gone()
            while (state := await self._once()).kind not in {"succeeded", "failed"}:
                await self._lost(state)
            if state.kind == "failed":
                raise await self._failure(state)
            if not state.pod:
                _log.warning(state.reason)
            return await self._output.success(self._attempt)
        except asyncio.CancelledError:
            await self._interrupted()
            raise
        except ClusterError:  # Nobody could follow the Job.
            await self._end()
            raise

    async def _once(self) -> State:
        job = await self.own.ready()
        uid = job["metadata"]["uid"]
        self.close()
        self._output = Output(self._last.get("shown", {}) if self._last.get("uid") == uid else {}, self._sink)
        return await self._followed(job)

    async def _followed(self, job: Object) -> State:
        """The last state of the Job, with all of its output taken. The time of one that was adopted counts from its creation."""
        timeout, pending = self._attempt.call.step.timeout, Pending(self._attempt)
        created = datetime.fromisoformat(job["metadata"]["creationTimestamp"]).timestamp()
        until = time.monotonic() + timeout - (max(time.time() - created, 0.0) if self.own.adopted else 0.0)
        while True:
            now = await self._cluster.job(self.own.name)
            pods, version = await self._cluster.pods(job) if now else ([], "")
            state = state_of(now, pods, time.time())
            if state.pod:
                self._attempt.evidence["pod"] = state.pod
            if state.kind in OVER:
                await self._rest(state)
                return state
            if state.kind == "running" and self._following is None:
                self._following = asyncio.create_task(self._follow(state))
            if state.kind == "pending":
                await self._wait_on(pending, state, (pods or [job])[0]["metadata"]["uid"])
            if (left := until - time.monotonic()) <= 0 and self.own.adopted:
                await self._end()
                message = f"timed out after {timeout:g} s, counted from the creation of its Job"
                raise HandlerError(message, kind="timeout", details=await self._details())
            most = _WATCH_SECONDS if state.kind == "running" else min(_PENDING_SECONDS, pending.left)
            await self._cluster.changed(job, version, max(min(most, left), PAUSE))
            await asyncio.sleep(PAUSE)

    async def _wait_on(self, pending: Pending, state: State, uid: str) -> None:
        """Raises HandlerError for a pod that is not going to run."""
        try:
            pending.judge(state, [] if state.reason else await self._cluster.events(uid))
        except HandlerError:
            await self._end()
            raise

    async def _follow(self, state: State) -> None:
        while True:
            with suppress(ClusterError, httpx2.HTTPError):  # What it lacks is read again.
                await self._output.read(self._cluster.log(state.pod, state.container, follow=True))
            await asyncio.sleep(_FOLLOW_PAUSE)

    def _read_no_further(self) -> None:
        if self._following:
            self._following.cancel()
        self._following = None

    async def _rest(self, state: State) -> None:
        """Take the rest of the output, while it can be had."""
        self._read_no_further()
        if not state.container:
            return
        began, trouble = time.monotonic(), ""
        while (left := began + _LOG_SECONDS - time.monotonic()) > 0:
            try:
                async with asyncio.timeout(left):
                    await self._output.read(self._cluster.log(state.pod, state.container, follow=False))
            except (ClusterError, httpx2.HTTPError, TimeoutError) as error:
                trouble = str(error) or type(error).__name__
                if isinstance(error, ClusterError) and not error.passes:
                    break
            else:
                return
            await asyncio.sleep(PAUSE)
        _log.warning("the end of its log cannot be read", pod=state.pod, error=trouble)

    async def _failure(self, state: State) -> HandlerError:
        """Its Job stays, to be looked at."""
        await self._beat(used=self.own.used + 1)
        details, request = await self._details(), self._request
        if state.code is None:
            how = "could not be started" if state.permanent else "failed"
            message = f"`{image_of(request)}` {how}: {state.reason}"
            return HandlerError(message, permanent=state.permanent, details=details, kind=how)
        main = main_container(request.pod())
        return ended_badly(
            image_of(request) if state.container == main["name"] else state.container,
            state.code,
            out_of_memory=state.out_of_memory,
            memory=((main.get("resources") or {}).get("limits") or {}).get("memory"),
            permanent=state.code in request.permanent_exit_codes,
            last_line=last_line(details, self._attempt.redactor),
            details=details,
        )

    async def _lost(self, state: State) -> None:
        """Raises HandlerError where its pod was taken away too often to be started again."""
        kind = state.kind
        if self._losses[kind] < MOST_LOSSES[kind]:
            await self.own.lost()  # Counted at once with the name, or a drain in between would count it again.
        self._losses[kind] += 1
        if self._losses[kind] > MOST_LOSSES[kind]:
            await self._beat(used=self.own.used + 1)
            message = f"its pod was taken away {self._losses[kind]} times; the last time: {state.reason}"
            raise HandlerError(message, details=await self._details(), kind=kind)
        _log.warning("its pod was taken away, and is started again", pod=state.pod, reason=state.reason)
        await self._beat(used=self.own.used, **self._losses)

    async def _interrupted(self) -> None:
        elsewhere = goes_on_elsewhere()
        if not elsewhere:
            await self._end()
        await self.own.settled()
        self._read_no_further()
        self._attempt.evidence |= await self._details()
        if elsewhere:
            shown = {name: self._last[name] for name in ("uid", "shown") if name in self._last}
            if job := self.own.found:
                shown = {"uid": job["metadata"]["uid"], "shown": self._output.shown}
            await self._beat(used=self.own.used, **self._losses, **shown)

    async def _end(self) -> None:
        if self.own.may_be_there:
            await self._beat(used=self.own.used + 1)
            await self.own.end()

    async def _beat(self, **details: Any) -> None:
        self._attempt.send_heartbeat(details)
        await asyncio.sleep(0)  # The loop takes it.

    async def _details(self) -> dict[str, Any]:
        evidence = self._attempt.evidence
        names: dict[str, Any] = {name: evidence[name] for name in ("kubernetes", "pod") if name in evidence}
        return names | await self._output.details(self._attempt)


def refused(error: ClusterError) -> HandlerError:
    """Of a request that no further attempt mends, unless rights or the cluster change."""
    permanent = error.status != HTTPStatus.UNAUTHORIZED
    return HandlerError(f"the cluster refused: {error.message}", permanent=permanent, kind=f"cluster {error.status}")
