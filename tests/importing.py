"""Imports made for tests: what a source becomes."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from schedules.importing.imported import Settings, import_jobs
from schedules.importing.sources import load_sources

if TYPE_CHECKING:
    from schedules.importing.imported import Imported
    from schedules.importing.old_job import OldJob
    from schedules.importing.sources import Format

SAMPLES = Path(__file__).parent / "cases" / "import"
SINCE = datetime(2027, 3, 1, tzinfo=UTC)
SETTINGS = Settings("imported", "UTC", "1h")


def imported(
    *sources: Path | str, kind: Format | None = None, settings: Settings = SETTINGS, since: datetime = SINCE
) -> Imported:
    """The whole import of sources, as seen at an instant."""
    return import_jobs(load_sources([str(each) for each in sources], kind, settings.timezone), settings, since)


def of_text(text: str, folder: Path, name: str = "user.crontab", kind: Format | None = None) -> Imported:
    """The import of one file with this text."""
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return imported(path, kind=kind)


def only(found: Imported) -> OldJob:
    """The one job of an import."""
    (job,) = found.jobs.values()
    return job
