"""Random lives of a project on the twin in memory."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

from tests.sync.machine import Life

SEQUENCES = 500

TestLives = Life.TestCase
TestLives.settings = settings(
    max_examples=SEQUENCES,
    stateful_step_count=12,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
