"""Asking the workers of a namespace what they are and can, and the namespace what it allows."""

from __future__ import annotations

import asyncio
import uuid
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from temporalio.api.common.v1 import WorkflowExecution
from temporalio.api.enums.v1 import TaskQueueType
from temporalio.api.taskqueue.v1 import TaskQueue
from temporalio.api.workflowservice.v1 import (
    DeleteWorkflowExecutionRequest,
    DescribeNamespaceRequest,
    DescribeTaskQueueRequest,
)
from temporalio.client import Client, WorkflowFailureError
from temporalio.service import RPCError

from activities.contract import OFFER_WORKFLOW, OfferQuestion, WorkerOffer
from schedules.errors import ServerError
from schedules.server.calls import Calls
from schedules.server.pace import Pace

if TYPE_CHECKING:
    from temporalio.client import WorkflowHandle

STALE = timedelta(minutes=2)
"""A worker polls at least once a minute; the server remembers one that went away for five."""
SILENT_ROUNDS = 3
"""Without a new answer, after which those that did not answer are given up."""
ANSWER_SECONDS = 10
WITHDRAW_SECONDS = 2


class Workers:
    """The workers that poll in the client's namespace."""

    def __init__(self, client: Client, answer_seconds: float | None = None) -> None:
        """`answer_seconds` is how long a worker has to answer a question."""
        self._client = client
        self._call = Calls(Pace())
        self._answer_seconds = ANSWER_SECONDS if answer_seconds is None else answer_seconds

    async def polls(self, task_queue: str) -> bool:
        """Whether a worker takes workflow tasks from the queue; True where the server does not tell."""
        pollers = await self._pollers(task_queue)
        return pollers is None or bool(pollers)

    async def answers(self, task_queue: str, question: OfferQuestion) -> list[WorkerOffer | None]:
        """The offer of each worker of the queue; None for each that polls and did not answer: it is busy, gone or none of ours.

        The server hands each question to whichever worker is free, so several are asked until nobody new answers.
        Raises UndecodableError as `offer` does.
        """
        found: dict[str, WorkerOffer] = {}
        expected = await self._pollers(task_queue)
        silent_rounds, missing = 0, 1 if expected is None else len(expected)
        while missing > 0 and silent_rounds < SILENT_ROUNDS:
            alone = expected is not None and len(expected) == 1
            asked = [self.offer(task_queue, question) for _ in range(1 if alone else 2 * missing)]
            answers = [answer for answer in await asyncio.gather(*asked) if answer is not None]
            new = {answer.worker: answer for answer in answers}.keys() - found.keys()
            found |= {answer.worker: answer for answer in answers}
            if not answers:
                break
            silent_rounds = 0 if new else silent_rounds + 1
            missing = 1 if expected is None else len(expected - found.keys())
        silent = {""} if expected is None else expected - found.keys()
        return [*found.values(), *(None for _ in silent)]

    async def _pollers(self, task_queue: str) -> set[str] | None:
        """Identities of those that take workflow tasks from the queue; None where the server does not tell."""
        request = DescribeTaskQueueRequest(
            namespace=self._client.namespace,
            task_queue=TaskQueue(name=task_queue),
            task_queue_type=TaskQueueType.TASK_QUEUE_TYPE_WORKFLOW,
        )
        try:
            response = await self._call(
                "describe the task queue", self._client.workflow_service.describe_task_queue, request
            )
        except ServerError:
            return None
        since = datetime.now(UTC) - STALE
        fresh = [poller for poller in response.pollers if poller.last_access_time.ToDatetime(tzinfo=UTC) >= since]
        return {poller.identity for poller in fresh}

    async def offer(self, task_queue: str, question: OfferQuestion | None = None) -> WorkerOffer | None:
        """The offer of one worker of the queue; None where none answers (busy, or of another kind than ours).

        Raises UndecodableError for an answer that is encrypted with a key which is not known here.
        """
        workflow_id = f"tickwright-offer-{uuid.uuid4()}"
        asking = asyncio.ensure_future(self._ask(workflow_id, task_queue, question))
        answered = False
        try:
            async with asyncio.timeout(self._answer_seconds):
                offer = await (await asyncio.shield(asking)).result()
        except (WorkflowFailureError, RPCError, TimeoutError):
            return None
        else:
            answered = True
            return offer
        finally:
            await self._withdraw(workflow_id, asking, answered=answered)

    async def largest_payload(self) -> int:
        """The most bytes that the namespace takes as one blob; 0 where the server does not tell."""
        request = DescribeNamespaceRequest(namespace=self._client.namespace)
        try:
            response = await self._call(
                "describe the namespace", self._client.workflow_service.describe_namespace, request
            )
        except ServerError:
            return 0
        return response.namespace_info.limits.blob_size_limit_error

    async def _ask(
        self, workflow_id: str, task_queue: str, question: OfferQuestion | None
    ) -> WorkflowHandle[Any, WorkerOffer]:
        """The question goes unencrypted, for a worker without the key is to say so; it holds names alone."""
        plain = Client(self._client.service_client, namespace=self._client.namespace)
        await plain.start_workflow(
            OFFER_WORKFLOW,
            args=[] if question is None else [question],
            id=workflow_id,
            task_queue=task_queue,
            execution_timeout=timedelta(seconds=ANSWER_SECONDS),
            static_summary="what this worker can run",
        )
        return self._client.get_workflow_handle(workflow_id, result_type=WorkerOffer)

    async def _withdraw(self, workflow_id: str, asking: asyncio.Future[Any], *, answered: bool) -> None:
        """Ends a question that has no answer, and takes it out of the list of workflows; where it may not, retention does.

        Whether it has begun is waited for: one that is cancelled on its way to the server may begin all the same.
        """
        with suppress(TimeoutError):
            async with asyncio.timeout(WITHDRAW_SECONDS):
                await asyncio.wait((asking,))
                if not answered:
                    await self._terminate(workflow_id)
                await self._delete(workflow_id)
        asking.cancel()

    async def _terminate(self, workflow_id: str) -> None:
        with suppress(RPCError):
            await self._client.get_workflow_handle(workflow_id).terminate(reason="nobody waits for it any longer")

    async def _delete(self, workflow_id: str) -> None:
        request = DeleteWorkflowExecutionRequest(
            namespace=self._client.namespace, workflow_execution=WorkflowExecution(workflow_id=workflow_id)
        )
        with suppress(RPCError):
            await self._client.workflow_service.delete_workflow_execution(request)
