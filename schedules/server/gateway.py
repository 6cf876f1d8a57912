"""The one way to a Temporal namespace's schedules: raw calls, so that the conflict token is sent and nothing gets lost."""

from __future__ import annotations

import asyncio
import uuid
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING

from temporalio.api.enums.v1 import IndexedValueType
from temporalio.api.operatorservice.v1 import AddSearchAttributesRequest, ListSearchAttributesRequest
from temporalio.api.workflowservice.v1 import (
    CreateScheduleRequest,
    DeleteScheduleRequest,
    DescribeNamespaceRequest,
    DescribeScheduleRequest,
    ListScheduleMatchingTimesRequest,
    ListSchedulesRequest,
    UpdateScheduleRequest,
)
from temporalio.service import RPCStatusCode

from activities.contract import OWNER_ATTRIBUTE
from schedules.errors import AttributeTypeError, MissingAttributesError, OvertakenError, ServerError
from schedules.model import DesiredSchedule, ListedSchedule, Namespace, ObservedSchedule, RuntimeState
from schedules.plan.fingerprint import ATTRIBUTES, marks
from schedules.server.calls import Calls
from schedules.server.pace import Pace
from schedules.server.paging import pages
from schedules.server.translate import from_description, to_schedule
from schedules.server.translate_info import from_listing, to_search_attributes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from temporalio.api.schedule.v1 import Schedule
    from temporalio.api.workflowservice.v1 import DescribeScheduleResponse
    from temporalio.client import Client

ATTRIBUTE_TIMEOUT = 30
"""Longest wait, in seconds, for a search attribute just registered to be known to the whole server."""
PAGE = 1000


class TemporalGateway:
    """Reads and writes schedules of the client's namespace. Every method raises ServerError for what the server refuses."""

    def __init__(self, client: Client, pace: Pace | None = None) -> None:
        """`pace` limits the requests; None lets the server alone do so."""
        self._client = client
        self._service = client.workflow_service
        self._namespace = client.namespace
        self._call = Calls(pace or Pace())

    async def owned(self, owner: str) -> list[ListedSchedule]:
        """The schedules that carry this owner's mark, as far as List knows of them yet; none where the mark is unknown."""
        try:
            return await self.listed(f"{OWNER_ATTRIBUTE} = '{owner}'")
        except ServerError as error:
            if error.code == RPCStatusCode.INVALID_ARGUMENT.name:
                return []
            raise

    async def listed(self, query: str) -> list[ListedSchedule]:
        """The schedules that match a visibility query; all of the namespace where it is empty."""
        request = ListSchedulesRequest(namespace=self._namespace, maximum_page_size=PAGE, query=query)
        ask = partial(self._call, "list schedules", self._service.list_schedules)
        return [from_listing(each) async for page in pages(ask, request) for each in page.schedules]

    async def describe(self, schedule_id: str) -> ObservedSchedule | None:
        """The schedule as the server has it now, or None."""
        response = await self._describe(schedule_id)
        if response is None:
            return None
        return await from_description(schedule_id, response, self._client.data_converter)

    async def create(self, desired: DesiredSchedule, note: str = "") -> bool:
        """Makes the schedule; False where one of that id is there already."""
        state = RuntimeState(paused=bool(desired.paused), note=note)
        request = CreateScheduleRequest(
            namespace=self._namespace,
            schedule_id=desired.id,
            schedule=await self._message(desired, state),
            identity=self._client.identity,
            request_id=str(uuid.uuid4()),
            search_attributes=to_search_attributes(marks(desired)),
        )
        try:
            await self._call("create", self._service.create_schedule, request)
        except ServerError as error:
            if error.code == RPCStatusCode.ALREADY_EXISTS.name:
                return False
            raise
        return True

    async def update(self, desired: DesiredSchedule, observed: ObservedSchedule, note: str | None = None) -> None:
        """Replaces what the spec decides and keeps what an operator set by hand; a `note` of None keeps the note, too.

        Where `observed` is no longer its newest version the V1 scheduler drops the update without an error (read back), and
        for V2 this raises OvertakenError; there every trigger and backfill makes a new version.
        """
        state = observed.state if desired.paused is None else replace(observed.state, paused=desired.paused)
        attributes = None
        if not marks(desired).items() <= observed.search_attributes.items():
            attributes = to_search_attributes({**observed.search_attributes, **marks(desired)})
        request = UpdateScheduleRequest(
            namespace=self._namespace,
            schedule_id=desired.id,
            schedule=await self._message(desired, state if note is None else replace(state, note=note)),
            conflict_token=observed.version,
            identity=self._client.identity,
            request_id=str(uuid.uuid4()),
            search_attributes=attributes,
        )
        try:
            await self._call("update", self._service.update_schedule, request)
        except ServerError as error:
            if error.code == RPCStatusCode.FAILED_PRECONDITION.name:
                raise OvertakenError(error.what, error.code, error.detail) from error
            raise

    async def delete(self, schedule_id: str) -> None:
        """Removes the schedule; one that is gone already is no error. Runs in progress go on."""
        request = DeleteScheduleRequest(
            namespace=self._namespace, schedule_id=schedule_id, identity=self._client.identity
        )
        try:
            await self._call("delete", self._service.delete_schedule, request)
        except ServerError as error:
            if error.code != RPCStatusCode.NOT_FOUND.name:
                raise

    async def matching_times(self, schedule_id: str, start: datetime, end: datetime) -> list[datetime]:
        """The times strictly between two instants at which the server says that a schedule fires; the first 1,000."""
        request = ListScheduleMatchingTimesRequest(namespace=self._namespace, schedule_id=schedule_id)
        request.start_time.FromDatetime(start)
        request.end_time.FromDatetime(end)
        answer = await self._call("list matching times", self._service.list_schedule_matching_times, request)
        times = (datetime.fromtimestamp(each.seconds, UTC) for each in answer.start_time)
        return [each for each in times if start < each < end]

    async def namespace(self) -> Namespace:
        """The client's, with the id by which it can be told from one of the same name on another server."""
        request = DescribeNamespaceRequest(namespace=self._namespace)
        try:
            answer = await self._call("describe the namespace", self._service.describe_namespace, request)
        except ServerError as error:
            if error.code != RPCStatusCode.PERMISSION_DENIED.name:
                raise
            return Namespace(self._namespace)
        return Namespace(self._namespace, answer.namespace_info.id)

    async def missing_attributes(self) -> tuple[str, ...]:
        """Those of our search attributes that the namespace does not know. Raises AttributeTypeError.

        As Text our names would be found by their words: one project's by a sync of another.
        """
        if others := await self._of_other_types():
            raise AttributeTypeError(self._namespace, others)
        return tuple([name for name in ATTRIBUTES if not await self._knows(name)])

    async def add_attributes(self, names: Sequence[str]) -> None:
        """Registers search attributes and waits until the server takes them. Raises MissingAttributesError where it does not."""
        try:
            for name in names:
                await self._add_attribute(name)
            async with asyncio.timeout(ATTRIBUTE_TIMEOUT):
                while await self.missing_attributes():  # noqa: ASYNC110 - the server tells nobody when it is ready
                    await asyncio.sleep(0.1)
        except ServerError as error:
            raise MissingAttributesError(self._namespace, names, str(error)) from error
        except TimeoutError as error:
            detail = f"registered, and still unknown after {ATTRIBUTE_TIMEOUT} s"
            raise MissingAttributesError(self._namespace, names, detail) from error

    async def _of_other_types(self) -> dict[str, str]:
        """Those of our search attributes that are no Keyword, with what they are; none where the server does not tell."""
        request = ListSearchAttributesRequest(namespace=self._namespace)
        listing = self._client.operator_service.list_search_attributes
        try:
            answer = await self._call("list search attributes", listing, request)
        except ServerError:
            return {}
        known, prefix = answer.custom_attributes, "INDEXED_VALUE_TYPE_"
        kinds = {name: IndexedValueType.Name(known[name]).removeprefix(prefix) for name in ATTRIBUTES if name in known}
        return {name: kind.title() for name, kind in kinds.items() if kind != "KEYWORD"}

    async def _add_attribute(self, name: str) -> None:
        kind = IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD
        request = AddSearchAttributesRequest(namespace=self._namespace, search_attributes={name: kind})
        try:
            await self._call("register", self._client.operator_service.add_search_attributes, request)
        except ServerError as error:
            if error.code != RPCStatusCode.ALREADY_EXISTS.name:
                raise

    async def _knows(self, attribute: str) -> bool:
        request = ListSchedulesRequest(
            namespace=self._namespace, maximum_page_size=1, query=f"{attribute} = 'tickwright'"
        )
        try:
            await self._call("list schedules", self._service.list_schedules, request)
        except ServerError as error:
            if error.code == RPCStatusCode.INVALID_ARGUMENT.name:
                return False
            raise
        return True

    async def _describe(self, schedule_id: str) -> DescribeScheduleResponse | None:
        request = DescribeScheduleRequest(namespace=self._namespace, schedule_id=schedule_id)
        try:
            return await self._call("describe", self._service.describe_schedule, request)
        except ServerError as error:
            if error.code == RPCStatusCode.NOT_FOUND.name:
                return None
            raise

    async def _message(self, desired: DesiredSchedule, state: RuntimeState) -> Schedule:
        converter = self._client.data_converter
        return await to_schedule(desired.id, desired.times, desired.action, desired.policies, state, converter)
