"""Celery's own notation, `crontab(minute=0, hour='*/3')`."""

from __future__ import annotations

import ast

from schedules.cron.errors import CronError
from schedules.cron.notation.cells import Cell

ORDER = ("minute", "hour", "day_of_month", "month_of_year", "day_of_week")
POSITIONAL = 2  # the order of the others has changed between versions of Celery


def is_call(whole: Cell) -> bool:
    """Whether the text is written as a call."""
    return whole.text.lstrip().startswith("crontab(")


def call_fields(whole: Cell) -> tuple[Cell, ...]:
    """The five fields in crontab order; one that is not given is `*`."""
    indent = len(whole.text) - len(whole.text.lstrip())
    call = _call(whole)
    given = dict(zip(ORDER, call.args[:POSITIONAL], strict=False))
    named = [(keyword.arg or "**", keyword.value) for keyword in call.keywords]
    if problem := _misnamed([name for name, _ in named], len(call.args)):
        raise CronError(problem, allowed=", ".join(ORDER), suggestion="name the arguments", position=whole.at)
    given.update(named)
    return tuple(_field(name, given.get(name), whole.at + indent) for name in ORDER)


def _misnamed(names: list[str], unnamed: int) -> str:
    """What is wrong with the names of the arguments, empty where nothing is; Python itself refuses a name that is there twice."""
    if unknown := [name for name in names if name not in ORDER]:
        return f"{unknown[0]!r} is no argument of crontab()"
    if unnamed > POSITIONAL:
        return "more than two arguments without a name"
    return next((f"{name} is given twice" for name in names if name in ORDER[:unnamed]), "")


def _call(whole: Cell) -> ast.Call:
    try:
        tree = ast.parse(whole.text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # all that parsing text can end in
        tree = None
    if not (isinstance(tree, ast.Call) and isinstance(tree.func, ast.Name)):
        raise CronError(
            "crontab(…) does not end as a call does", suggestion="write crontab(minute=0, hour=3)", position=whole.at
        )
    return tree


def _field(name: str, node: ast.expr | None, at: int) -> Cell:
    if node is None:
        return Cell("*", at)
    if isinstance(node, ast.Constant) and isinstance(node.value, int | str) and not isinstance(node.value, bool):
        return Cell("".join(str(node.value).split()), at + node.col_offset)
    place = at + node.col_offset
    if isinstance(node, ast.List | ast.Tuple):
        written = ",".join(ast.unparse(each).strip("'") for each in node.elts)
        raise CronError(f"{name} is a list", suggestion=f"write it as text, {name}='{written}'", position=place)
    raise CronError("an argument of crontab() is no number and no text", position=place)
