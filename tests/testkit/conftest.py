"""The kit as a fixture, also where the installed package is another one than this folder."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from worker.testkit import TestKit

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SPECS = """\
version: 1
project: billing
defaults:
  timezone: America/New_York
  timeout: 5m
  retry: {max_attempts: 3, backoff: fixed, initial: 2m}
default_environment: default
environments:
  production: {defaults: {retry: {max_attempts: 1}}}
calendars:
  us-holidays: {holidays: US, subdivision: NY}
  business-days: {weekdays: [mon, tue, wed, thu, fri], except: [us-holidays]}
jobs:
  nightly:
    schedule: "30 2 * * *"
    run:
      http:
        url: "https://ledger.internal/post"
        headers: {Authorization: "Bearer ${secret:TOKEN}"}
        json: {day: "{scheduled_at:%F}", since: "{interval_start:%F}"}
  payroll:
    schedule: "0 9 15 * *"
    only: [business-days]
    on_holiday: previous_business_day
    run: {command: [echo, "{scheduled_at:%F}"]}
  cleanup:
    schedule: "@daily"
    run: {python: {handler: delete-old-rows, params: {database: "${secret:STATE}/demo.db", keep_days: 7}}}
  slow:
    schedule: {every: 5m}
    run: {command: ["false"]}
"""
SECRETS = {"TOKEN": "s3cret-t0ken", "STATE": "/nowhere"}


@pytest.fixture(scope="session")
def kit() -> Iterator[TestKit]:
    with TestKit() as running:
        yield running


@pytest.fixture
def specs(tmp_path: Path) -> Path:
    """A file with four jobs."""
    path = tmp_path / "jobs.yaml"
    path.write_text(SPECS)
    return path
