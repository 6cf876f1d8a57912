"""Objects of Kubernetes in YAML: of one document or many, with or without a List around them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, Final

import yaml

from schedules.importing.old_job import Dropped, Loaded, OldJob
from schedules.importing.problem import ImportProblem
from schedules.importing.shape import loaded

MOST_VALUES: Final = 100_000
"""Values of one document, aliases followed: a YAML bomb has more."""
_TEMPLATE_ENGINE: Final = re.compile(r"\{\{.*?\}\}")


def load_objects(text: str, file: str, read: Callable[[Mapping[str, Any]], OldJob | str]) -> Loaded:
    """What `read` makes of each object: a job, or in words why it is none. A document that cannot be read is dropped alone."""
    jobs, dropped = list[OldJob](), list[Dropped]()
    for line, document in _documents(text):
        try:
            found = loaded(file, ((_name(item), partial(read, item)) for item in _items(parsed(document))), line=line)
            jobs += found.jobs
            dropped += found.dropped
        except yaml.YAMLError as error:
            mark = getattr(error, "problem_mark", None)
            why = (
                "placeholders of a template engine: render it first (`helm template`)"
                if _TEMPLATE_ENGINE.search(document)
                else str(getattr(error, "problem", error))
            )
            dropped.append(Dropped(file, line + (mark.line if mark else 0), f"not YAML: {why}"))
        except (ImportProblem, RecursionError) as problem:
            dropped.append(Dropped(file, line, str(problem) or "nested too deep"))
    return Loaded(jobs, dropped)


def _documents(text: str) -> Iterator[tuple[int, str]]:
    """Each document with the number of its first line, so that one that is broken does not take the others with it."""
    start, lines = 1, list[str]()
    for number, line in enumerate(text.split("\n"), start=1):
        if line.startswith("---"):
            yield start, "\n".join(lines)
            start, lines = number, [line.removeprefix("---")]
        else:
            lines.append(line)
    yield start, "\n".join(lines)


def parsed(document: str) -> Any:
    """The value of a document. Raises yaml.YAMLError, and ImportProblem for a bomb."""
    try:
        data = yaml.load(document, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))  # noqa: S506  a safe loader
    except (ValueError, LookupError, TypeError) as error:  # of a tag such as !!int before a text
        raise ImportProblem(f"not YAML that can be read: {error}") from None
    if sum(1 for _ in _values(data)) > MOST_VALUES:
        raise ImportProblem(f"it stands for more than {MOST_VALUES:,} values")
    return data


def _values(data: Any) -> Iterator[Any]:
    """All values, until there are too many."""
    stack, count = [data], 0
    while stack and count <= MOST_VALUES:
        each = stack.pop()
        count += 1
        yield each
        stack.extend(each.values() if isinstance(each, dict) else each if isinstance(each, list) else ())


def _name(item: Mapping[str, Any]) -> str:
    meta = item.get("metadata")
    return f"{item.get('kind')} {meta.get('name') if isinstance(meta, dict) else ''}".strip()


def _items(data: Any) -> Iterator[Mapping[str, Any]]:
    if isinstance(data, dict) and str(data.get("kind", "")).endswith("List") and isinstance(data.get("items"), list):
        for item in data["items"]:
            yield from _items(item)
    elif isinstance(data, dict):
        yield data
    elif data is not None:
        raise ImportProblem("not a Kubernetes object: a mapping with `kind` was expected")
