"""Runs jobs from spec files over a span of scheduled times, on a server that skips time; for tests of jobs. Public.

With pytest, ask for the fixture `tickwright`; without it, `with TestKit() as kit: await kit.run(…)`.
"""

from worker.testkit.calls import Call
from worker.testkit.errors import KitError
from worker.testkit.faults import Fault
from worker.testkit.kit import TestKit
from worker.testkit.outcome import Occurrence, Occurrences
from worker.testkit.stand_ins import StandIn

__all__ = ["Call", "Fault", "KitError", "Occurrence", "Occurrences", "StandIn", "TestKit"]
