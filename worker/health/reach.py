"""Reaching Temporal: the server, and the namespace in it that the worker is to work for."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import structlog
from temporalio.api.workflowservice.v1 import DescribeNamespaceRequest
from temporalio.service import RPCError, RPCStatusCode

from schedules.errors import TickwrightError, UnreachableError
from schedules.server.connection import connect

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from datetime import timedelta

    from temporalio.client import Client

    from worker.process.lifecycle import Stop

FIRST_WAIT, LONGEST_WAIT = 1.0, 30.0
REFUSALS = frozenset(
    {
        RPCStatusCode.NOT_FOUND,
        RPCStatusCode.INVALID_ARGUMENT,
        RPCStatusCode.PERMISSION_DENIED,
        RPCStatusCode.UNAUTHENTICATED,
    }
)
"""Answers that no waiting changes."""


class NamespaceError(TickwrightError):
    """The server does not let us work in the namespace."""

    def __init__(self, namespace: str, address: str, code: str, detail: str) -> None:
        super().__init__(
            f"Temporal at {address} refuses namespace {namespace}: {code}: {detail}; set TEMPORAL_NAMESPACE to one that "
            f"exists and that these credentials may use, or create it: temporal operator namespace create {namespace}"
        )


async def connect_to_namespace() -> Client:
    """A client whose namespace has answered. Raises UnreachableError where waiting may help, else NamespaceError or SettingsError."""
    client = await connect(core_logs=True)
    address = client.service_client.config.target_host
    try:
        await ask_for_namespace(client)
    except RPCError as error:
        if error.status in REFUSALS:
            raise NamespaceError(client.namespace, address, error.status.name, error.message) from error
        raise UnreachableError(address, f"{error.status.name}: {error.message}") from error
    return client


async def ask_for_namespace(client: Client, timeout: timedelta | None = None) -> None:
    """Raises RPCError where the server is away, or does not let us work in the namespace (REFUSALS)."""
    request = DescribeNamespaceRequest(namespace=client.namespace)
    await client.workflow_service.describe_namespace(request, timeout=timeout)


async def connect_patiently(
    stop: Stop, connect_once: Callable[[], Awaitable[Client]] = connect_to_namespace
) -> Client | None:
    """A client, however long the server takes to be there; None when asked to stop before."""
    log, wait = structlog.get_logger(), FIRST_WAIT
    while not stop.asked.is_set():
        try:
            return await stop.unless_asked(connect_once())
        except UnreachableError as error:
            log.warning("waiting for the Temporal server", action="server_away", error=str(error), retry_in=wait)
        await stop.unless_asked(asyncio.sleep(wait))
        wait = min(wait * 2, LONGEST_WAIT)
    return None
