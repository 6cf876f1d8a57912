"""The secrets of a worker: those that steps may use, and what it keeps secret itself, which no step's output may show."""

from __future__ import annotations

import os
from base64 import b64encode, urlsafe_b64encode
from typing import TYPE_CHECKING

import structlog

from activities.steps.secrets import SecretStore
from schedules.server.codec_keys import TOKEN as CODEC_TOKEN
from schedules.server.codec_keys import codec_keys

if TYPE_CHECKING:
    from collections.abc import Iterator

    from temporalio.client import Client

    from worker.settings import WorkerSettings


OF_STORAGE = ("AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN")
ORDINARY = (
    "the values of these secrets are short or ordinary words; wherever such a text occurs in an output, it is masked, "
    "and no later step can use it; choose other values, or write them into the spec"
)


def secrets_of(client: Client, settings: WorkerSettings) -> SecretStore:
    """The secrets of a worker; those with ordinary values are named in its log."""
    secrets = SecretStore(os.environ, settings.secrets_dir, others=tuple(own_secrets(client, settings)))
    if names := secrets.ordinary():
        structlog.get_logger().warning(ORDINARY, action="secrets_ordinary", names=names)
    return secrets


def own_secrets(client: Client, settings: WorkerSettings) -> Iterator[str]:
    """The API key and private key of the connection, the keys of the payloads and of storage, and the tokens of HTTP, as they are written."""
    connection = client.service_client.config
    yield connection.api_key or ""
    if connection.tls and not isinstance(connection.tls, bool) and (key := connection.tls.client_private_key):
        yield key.decode(errors="replace")
    for raw in codec_keys().keys.values():
        yield from (b64encode(raw).decode(), urlsafe_b64encode(raw).decode())
    yield os.environ.get(CODEC_TOKEN, "")
    yield from (os.environ.get(name, "") for name in OF_STORAGE)
    if settings.token:
        yield settings.token.text
