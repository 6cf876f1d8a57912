"""The names that modules with jobs import."""

from __future__ import annotations

import schedules.project
import schedules.spec
from schedules.spec.fields import Spec
from schedules.spec.project import JobSet


def test_every_public_model_is_found() -> None:
    models = [getattr(schedules.spec, name) for name in schedules.spec.__all__ if name != "ScheduleEntry"]
    assert all(issubclass(model, Spec) for model in models)
    assert [model.__name__ for model in models] == [name for name in schedules.spec.__all__ if name != "ScheduleEntry"]


def test_the_set_of_jobs_has_a_short_name() -> None:
    assert schedules.project.JobSet is JobSet
