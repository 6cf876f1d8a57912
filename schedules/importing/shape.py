"""Reading items of a source that may have any shape: one that is unlike its format is left out by itself, and the rest goes on."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from schedules.importing.old_job import Dropped, Loaded, OldJob
from schedules.importing.problem import ImportProblem

UNSHAPED = (TypeError, ValueError, AttributeError, LookupError, ArithmeticError, RecursionError, OSError)
"""What a text where a mapping was expected, or a number beyond all bounds, leads to."""
Reading = tuple[str, Callable[[], OldJob | str]]
"""The item's name, and what reads it: a job, or in words why it is none."""


def loaded(file: str, readings: Iterable[Reading], dropped: Iterable[Dropped] = (), line: int = 0) -> Loaded:
    """The jobs among the items, and the rest with its reason behind what was `dropped` before."""
    jobs, left_out = list[OldJob](), list(dropped)
    for name, read in readings:
        try:
            found = read()
        except ImportProblem as problem:
            left_out.append(Dropped(file, line, f"{name}: {problem}"))
        except UNSHAPED:
            text = f"{name}: it has not the shape of this format; bring it over by hand"
            left_out.append(Dropped(file, line, text))
        else:
            if isinstance(found, OldJob):
                jobs.append(found)
            else:
                left_out.append(Dropped(file, line, found, no_job=True))
    return Loaded(jobs, left_out)
