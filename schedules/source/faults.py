"""From pydantic's errors to problems with a place: the one the faulty value was written at, in whichever layer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from pydantic_core import ErrorDetails, ValidationError

from schedules.errors import Problem
from schedules.source.document import Document
from schedules.spec.fields import Spec
from schedules.spec.layers import Layer, Path, origins
from schedules.spec.wording import KEY, MISSING, UNKNOWN, meant, path_of, worded, written

MOST_TOLD = 50
"""Errors of one job, or of what stands around the jobs: nobody reads more at once."""


def errors_of(found: ValidationError) -> list[ErrorDetails]:
    """The first errors, in the order of the model's fields."""
    return found.errors(include_url=False)[:MOST_TOLD]


def problems(
    document: Document, layers: Sequence[Layer], model: type[Spec], errors: Iterable[ErrorDetails]
) -> Iterator[Problem]:
    """A problem for each error, but for keys that are missing only because they are misspelt."""
    found = list(errors)
    misspelt = misspellings(model, found)
    for error in found:
        if error["type"] != MISSING or path_of(model, error) not in misspelt:
            yield _problem(document, layers, model, error)


def misspellings(model: type[Spec], errors: Iterable[ErrorDetails]) -> set[Path | None]:
    """What the unknown keys were probably meant to be."""
    return {meant(model, error) for error in errors if error["type"] == UNKNOWN}


def _problem(document: Document, layers: Sequence[Layer], model: type[Spec], error: ErrorDetails) -> Problem:
    path = path_of(model, error)
    missing, about_key = error["type"] == MISSING, path[-1:] == (KEY,)
    found = origins(layers, path[:-1] if missing or about_key else path)
    in_job = (origin for origin in found if origin.layer.path[:1] == ("jobs",))
    origin = next(in_job, found[0]) if missing or not found[0].path else found[0]
    whole = origin.layer.path + origin.path
    at_key = missing or about_key or error["type"] == UNKNOWN
    place = document.positions.of_key(whole) if at_key else document.positions.of_value(whole)
    text = "" if at_key else document.positions.number_text(whole)
    return Problem(place, written((*whole, path[-1]) if missing else whole), worded(model, error, text))


def problem_at(document: Document, layers: Sequence[Layer], path: Path, message: str) -> Problem:
    """The problem of the merged value at a path, or of the nearest key above it that was written."""
    origin = origins(layers, path)[0]
    place = origin.layer.path + origin.path
    return Problem(document.positions.of_value(place), written(place), message)


def stray_name(document: Document, layers: Sequence[Layer]) -> Problem:
    """The problem of a job that has a key `name`."""
    origin = origins(layers, ("name",))[0]
    path = origin.layer.path + origin.path
    message = "unknown key; a job's name is its key under `jobs`, remove this one"
    return Problem(document.positions.of_key(path), written(path), message)
