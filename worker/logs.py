"""Logs: one JSON object a line for machines, or columns for a person at a terminal; the SDK's own lines among them."""

from __future__ import annotations

import logging
import sys
from typing import TYPE_CHECKING, TextIO

import structlog
from structlog.tracebacks import ExceptionDictTransformer
from temporalio.runtime import (
    LogForwardingConfig,
    LoggingConfig,
    MetricBuffer,
    Runtime,
    TelemetryConfig,
    TelemetryFilter,
)

from activities.steps.log_lines import keep_line
from activities.steps.redact import redact_event

if TYPE_CHECKING:
    from structlog.typing import EventDict, Processor

FIELDS_OF_THE_SDK = ("temporal_activity", "temporal_workflow", "temporal_log")
CORE_LOGGER = "temporalio.core"
ATTEMPT_LOGGER = "temporalio.activity"
"""Logs each failed attempt with a traceback; our own line about it says more and hides what is secret."""


def configure_logs(
    log_format: str | None, level: str, stream: TextIO = sys.stderr, metrics: MetricBuffer | None = None
) -> None:
    """Sends everything to `stream` in one form, and the SDK's metrics to `metrics`.

    Without a format: console on a terminal, else JSON.
    """
    console = stream.isatty() if log_format is None else log_format == "console"
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.ExtraAdder(),
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.StackInfoRenderer(),
    ]
    formatter = structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=shared,
        processors=[
            structlog.stdlib.ProcessorFormatter.remove_processors_meta,
            _without_sdk_copies,
            *(_for_people() if console else _for_machines()),
        ],
    )
    handler = logging.StreamHandler(stream)
    handler.setFormatter(formatter)
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level.upper())
    logging.getLogger(ATTEMPT_LOGGER).setLevel(logging.ERROR)
    logging.captureWarnings(capture=True)
    _set_up_core(metrics)
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *shared,
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=False,
    )


def _for_machines() -> list[Processor]:
    """Tracebacks without local variables, which may hold secrets in forms that no redaction knows."""
    tracebacks = structlog.processors.ExceptionRenderer(ExceptionDictTransformer(show_locals=False))
    return [tracebacks, redact_event, keep_line, structlog.processors.JSONRenderer(default=str)]


def _for_people() -> list[Processor]:
    return [structlog.processors.format_exc_info, redact_event, keep_line, structlog.dev.ConsoleRenderer()]


def _set_up_core(metrics: MetricBuffer | None) -> None:
    """The SDK's core, which is no Python, writes to the terminal by itself unless it is given a logger."""
    forwarding = LogForwardingConfig(logging.getLogger(CORE_LOGGER), prepend_target_on_message=False)
    levels = TelemetryFilter(core_level="WARN", other_level="ERROR")
    logging_config = LoggingConfig(levels, forwarding=forwarding)
    telemetry = TelemetryConfig(logging=logging_config, metrics=metrics, attach_service_name=False)
    Runtime.set_default(Runtime(telemetry=telemetry), error_if_already_set=False)


def _without_sdk_copies(_logger: object, _method: str, event: EventDict) -> EventDict:
    """The SDK adds its whole info mapping beside the fields that we bind."""
    for name in FIELDS_OF_THE_SDK:
        event.pop(name, None)
    return event
