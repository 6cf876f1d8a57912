"""The workflows of Tickwright that each worker runs."""

from __future__ import annotations

from typing import Any

from workflows.backfill import BackfillWorkflow
from workflows.builds import BuildsWorkflow
from workflows.incident import IncidentWorkflow
from workflows.notice_workflow import NoticeWorkflow
from workflows.offer import OfferWorkflow
from workflows.resume import ResumeWorkflow
from workflows.unknown import UnknownWorkflow
from workflows.watchdog import WatchdogWorkflow

OWN_WORKFLOWS: tuple[type[Any], ...] = (
    OfferWorkflow,
    BuildsWorkflow,
    IncidentWorkflow,
    NoticeWorkflow,
    WatchdogWorkflow,
    BackfillWorkflow,
    ResumeWorkflow,
    UnknownWorkflow,
)
"""Beside JobWorkflow."""
