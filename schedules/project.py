"""The set of jobs that a Python module offers; the name that users import."""

from schedules.spec.project import JobSet, Project

__all__ = ["JobSet", "Project"]
