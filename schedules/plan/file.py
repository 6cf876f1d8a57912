"""A plan as JSON and back, and whether a plan that was kept is still the one to make. Pure."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from pydantic import ConfigDict, TypeAdapter, ValidationError

from schedules.errors import TickwrightError
from schedules.model import Namespace, ObservedSchedule
from schedules.plan.change import Change
from schedules.plan.plan import Plan

FORMAT = 4


class PlanFileError(TickwrightError):
    """A file that holds no plan, or none that this version reads."""

    exit_code = 2


class StalePlanError(TickwrightError):
    """The server or the specs are not those that the plan was made from; nothing was changed."""

    def __init__(self, differences: list[str]) -> None:
        lines = "\n".join(f"  {line}" for line in differences)
        super().__init__(f"refused: the plan is out of date; make a new plan, because:\n{lines}")


@dataclass(frozen=True, slots=True)
class PlanFile:
    """The file of `--plan-out`: the plan, the namespace that it was made for, and the version of this form.

    The digest is of all the rest. It protects from a slip (a file cut off, merged, or edited by hand), not from somebody who
    means to deceive: it holds no secret.
    """

    plan: Plan
    namespace: Namespace
    digest: str = ""
    tickwright_plan: int = FORMAT

    __pydantic_config__ = ConfigDict(ser_json_bytes="base64", val_json_bytes="base64", extra="forbid")


def to_json(plan: Plan, namespace: Namespace) -> str:
    """The plan as an indented JSON document; `from_json` gives an equal one."""
    document = json.loads(_adapter().dump_json(PlanFile(plan, namespace)))
    return json.dumps({**document, "digest": _digest(document)}, indent=2) + "\n"


def from_json(text: str) -> PlanFile:
    """The plan in a text of `to_json`. Raises PlanFileError."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise PlanFileError(
            f"this is not a plan of `sync --plan-out`: it is not JSON, or not complete: {error}"
        ) from error
    form = document.get("tickwright_plan") if isinstance(document, dict) else None
    if form is None:
        raise PlanFileError("this is not a plan of `sync --plan-out`: it has no `tickwright_plan`")
    if form != FORMAT:
        raise PlanFileError(f"the plan has form {form}, this version reads {FORMAT}; make a new plan")
    if document.get("digest") != _digest(document):
        raise PlanFileError("the plan was edited: its digest does not match its content; make a new plan")
    try:
        return _adapter().validate_json(text)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(map(str, first["loc"]))
        raise PlanFileError(f"this is not a plan of `sync --plan-out`: {place}: {first['msg']}") from error


def other_namespace(made_for: Namespace, now: Namespace) -> str:
    """The refusal of a plan that was made for another namespace; empty where it is the same one."""
    if made_for.name != now.name:
        return f"the plan is for namespace {made_for.name}, and this is {now.name}"
    if made_for.id and now.id and made_for.id != now.id:
        return f"the plan is for namespace {made_for.name} of another server"
    return ""


def stale(kept: Plan, now: Plan) -> list[str]:
    """All in which the plan that would be made now differs from the one kept; times that have passed since do not count."""
    now = from_json(to_json(now, Namespace(""))).plan  # The kept one came this way, too.
    if kept.owner != now.owner:
        return [f"the plan is for {kept.owner}, and the specs are of {now.owner}"]
    before = {change.job: change for change in kept.changes}
    after = {change.job: change for change in now.changes}
    return [
        line for job in sorted(before.keys() | after.keys()) for line in _stale(job, before.get(job), after.get(job))
    ]


def _stale(job: str, kept: Change | None, now: Change | None) -> Iterator[str]:
    if kept is None or now is None:
        done = "is not in the plan" if kept is None else "is no longer needed"
        verb = (now or kept).verb  # type: ignore[union-attr]  # one of the two is there
        yield f"{job}: {verb} {done}"
        return
    if kept.verb != now.verb:
        yield f"{job}: the plan says {kept.verb}, and now it would be {now.verb}"
    if kept.desired != now.desired:
        yield f"{job}: the specs have changed"
    if kept.conflict != now.conflict:
        yield f"{job}: {now.conflict or 'the conflict is gone'}"
    if kept.observed and now.observed and kept.observed != now.observed:
        yield from _server_changed(job, kept.observed, now.observed)


def _server_changed(job: str, before: ObservedSchedule, after: ObservedSchedule) -> Iterator[str]:
    parts = ("times", "action", "policies", "state", "search_attributes", "other", "encryption", "unreadable")
    changed = [part for part in parts if getattr(before, part) != getattr(after, part)]
    what = f" ({', '.join(changed)})" if changed else ""
    yield f"{job}: somebody has changed the schedule on the server{what}"


def _digest(document: dict[str, Any]) -> str:
    rest = {name: value for name, value in document.items() if name != "digest"}
    return hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()


@cache
def _adapter() -> TypeAdapter[PlanFile]:
    return TypeAdapter(PlanFile)
