"""Where whole outputs are put, as the worker's settings say."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from activities.steps.sinks import S3, Folder
from schedules.errors import SettingsError
from schedules.text.shown import shown

if TYPE_CHECKING:
    from activities.steps.sinks import Sink
    from worker.settings import WorkerSettings


def check_bucket(url: str) -> str:
    """The address itself. Raises ValueError for one that is no bucket."""
    if url and not re.fullmatch(r"s3://[a-z0-9][a-z0-9.-]*(/[^?#]*)?", url):
        raise ValueError(f"{shown(url)} is no bucket; write for example s3://my-bucket/outputs")
    return url


def outputs_of(settings: WorkerSettings) -> Sink | None:
    """None for nowhere. Raises SettingsError."""
    if settings.outputs_dir and settings.outputs_url:
        raise SettingsError("TICKWRIGHT_OUTPUTS_DIR and TICKWRIGHT_OUTPUTS_URL: both are set; keep one")
    if settings.outputs_dir:
        return Folder(settings.outputs_dir)
    try:
        return S3(settings.outputs_url) if settings.outputs_url else None
    except ValueError as error:
        raise SettingsError(f"TICKWRIGHT_OUTPUTS_URL: {error}") from None
