"""Notices and reports of an incident, or of a notice by itself, as values. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

BEGIN = datetime.min.replace(tzinfo=UTC)
SentState = Literal["delivered", "under_way", "given_up"]


@dataclass(frozen=True, slots=True)
class Sent:
    """One notice to one channel. `at` is when it was delivered or given up, or else posted; `event_id` that of its posting.

    `since` is the scheduled time of the first failure of its incident; `about` the run that it tells of.
    """

    event: str
    channel: str
    state: SentState
    at: datetime
    attempts: int
    workflow_id: str
    run_id: str
    event_id: int
    about: str = ""
    about_run: str = ""
    since: str = ""
    error: str = ""


@dataclass(frozen=True, slots=True)
class Reported:
    """The ending of a run, reported by itself or seen by the incident's own look; without `run_id` told only by the run after it.

    `gone` stands for the job, of which the failures before are no more.
    """

    run_id: str
    workflow_id: str
    outcome: str
    scheduled_at: str
    ended_at: datetime = BEGIN

    def is_of(self, run_id: str, workflow_id: str) -> bool:
        """Whether it is about a run."""
        return self.run_id == run_id if self.run_id else self.workflow_id == workflow_id


@dataclass(frozen=True, slots=True)
class NoticeHistory:
    """The history of one workflow that tells. An incident that goes on from an earlier part has `failures` since `since`.

    `readable` is False where the key to its values is missing.
    """

    workflow_id: str
    run_id: str
    failures: int = 0
    since: str = ""
    was_told: bool = False
    reports: tuple[Reported, ...] = ()
    sent: tuple[Sent, ...] = ()
    readable: bool = True
