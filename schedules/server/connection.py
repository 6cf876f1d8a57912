"""Connecting to Temporal with the settings of its own command line and SDKs."""

from __future__ import annotations

import asyncio
import os
import re
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from schedules.errors import SettingsError, UnreachableError
from schedules.server.codec_keys import codec_keys
from schedules.text.address import host_and_port

if TYPE_CHECKING:
    from collections.abc import Mapping

    from temporalio.client import Client
    from temporalio.service import TLSConfig

CONFIG_FILE = "TEMPORAL_CONFIG_FILE"
CERTIFICATE = re.compile(rb"-----BEGIN CERTIFICATE-----")
PRIVATE_KEY = re.compile(rb"-----BEGIN [A-Z ]*PRIVATE KEY-----")
CONNECT_SECONDS = 15


def connection_settings() -> dict[str, Any]:
    """Arguments of `Client.connect`: TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE, TEMPORAL_API_KEY, TEMPORAL_TLS_*, profiles.

    Raises SettingsError where they cannot be read.
    """
    from temporalio.envconfig import ClientConfig
    from temporalio.service import TLSConfig

    _check_file()
    try:
        settings: dict[str, Any] = dict(ClientConfig.load_client_connect_config())
    except (RuntimeError, ValueError, OSError) as error:
        raise SettingsError(f"the connection settings cannot be read: {error}") from error
    if isinstance(settings.get("tls"), TLSConfig):
        _check_pem(settings["tls"])
    return {"target_host": "localhost:7233", **settings}


async def connect(*, core_logs: bool = False) -> Client:
    """A client that has reached the server and encrypts where keys are given. Raises UnreachableError or SettingsError.

    `core_logs`: the SDK's core has been told where to log to; otherwise it keeps silent.
    """
    from temporalio.client import Client
    from temporalio.service import RPCError

    from schedules.server.codec import data_converter

    if not core_logs:
        _silence_core()
    settings = connection_settings()
    converter = data_converter(codec_keys())
    address = f"{settings['target_host']} ({'with' if settings.get('tls') else 'without'} TLS)"
    try:
        async with asyncio.timeout(CONNECT_SECONDS):
            return await Client.connect(**settings, data_converter=converter)
    except ValueError as error:
        raise SettingsError(f"Temporal at {address}: the connection settings cannot be used: {error}") from error
    except TimeoutError as error:
        raise UnreachableError(address, f"no answer within {CONNECT_SECONDS} s") from error
    except (RuntimeError, RPCError, OSError) as error:
        await _check_protocol(settings)
        raise UnreachableError(address, _in_short(str(error))) from error


@cache
def _silence_core() -> None:
    """The core, which is no Python, would write its warnings to stdout, amidst what a command prints there."""
    from temporalio.runtime import Runtime, TelemetryConfig

    with suppress(RuntimeError):  # Where the process has a runtime already, that stays as it is.
        Runtime.set_default(Runtime(telemetry=TelemetryConfig(logging=None)))


def _in_short(detail: str) -> str:
    """The operating system's own words, where the SDK wraps them into several layers."""
    found = re.search(r'message: "([^"]+)"', detail)
    return found[1] if found else detail


def _check_file() -> None:
    """The SDK takes a file of profiles that is not there for an empty one. Raises SettingsError."""
    if (file := os.environ.get(CONFIG_FILE)) and not Path(file).is_file():
        raise SettingsError(f"{CONFIG_FILE}: there is no file {file}; give the file with the profiles, or leave it out")


async def _check_protocol(settings: Mapping[str, Any]) -> None:
    """Raises SettingsError where the failure of a connection is one of its settings."""
    from schedules.server.tls import check_protocol

    if not settings.get("http_connect_proxy_config"):
        with suppress(ValueError):  # An address without a port, which is the SDK's to judge.
            await check_protocol(*host_and_port(settings["target_host"]), tls=bool(settings.get("tls")))


def _check_pem(tls: TLSConfig) -> None:
    """The SDK tells a file that is no PEM only as a failed connection, or not at all. Raises SettingsError."""
    parts = {
        "SERVER_CA_CERT": (tls.server_root_ca_cert, CERTIFICATE),
        "CLIENT_CERT": (tls.client_cert, CERTIFICATE),
        "CLIENT_KEY": (tls.client_private_key, PRIVATE_KEY),
    }
    for name, (data, kind) in parts.items():
        if data is not None and not kind.search(data):
            raise SettingsError(
                f"TEMPORAL_TLS_{name}_PATH (or _DATA): no {kind.pattern.decode()} in it; give a file in PEM format"
            )
    if tls.client_cert and tls.client_private_key:
        from schedules.server.tls import check_pair

        check_pair(tls.client_cert, tls.client_private_key)
