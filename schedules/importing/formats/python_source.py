"""Values of a Python file, read from its syntax tree: the file is never imported or run."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from schedules.importing.problem import ImportProblem, SourceError

MOST_NODES: Final = 100_000
LARGEST_FACTOR: Final = 1e9


@dataclass(frozen=True, slots=True)
class Call:
    """A call that is kept as it is written: the last part of the function's name, and its arguments."""

    function: str
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Unknown:
    """An expression that only running the file could tell."""

    text: str


def parsed(text: str, file: str) -> ast.Module:
    """The file's tree. Raises SourceError with the line of what is no Python."""
    try:
        tree = ast.parse(text)
    except SyntaxError as error:
        raise SourceError(f"{file}:{error.lineno or 0}: not Python: {error.msg}") from None
    except (ValueError, RecursionError, MemoryError) as error:
        raise SourceError(f"{file}: not Python that can be read: {error}") from None
    if sum(1 for _ in ast.walk(tree)) > MOST_NODES:
        raise SourceError(f"{file}: more than {MOST_NODES:,} expressions; give the file that holds the schedule alone")
    return tree


class Reader:
    """Evaluates literals, names that the file sets at its top level, timedelta and datetime; keeps other calls as `Call`."""

    def __init__(self, tree: ast.Module) -> None:
        """`names` are the file's own, as far as they are simple assignments."""
        self.names: dict[str, Any] = {}
        for node in tree.body:
            if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
                self.names[node.targets[0].id] = self.value(node.value)
            elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value:
                self.names[node.target.id] = self.value(node.value)

    def value(self, node: ast.expr) -> Any:
        """What the expression stands for; `Unknown` where that cannot be told without running it."""
        match node:
            case ast.Constant(value=value):
                return value
            case ast.Name(id=name) if name in self.names:
                return self.names[name]
            case ast.List(elts=items):
                return [self.value(item) for item in items]
            case ast.Tuple(elts=items) | ast.Set(elts=items):
                return tuple(self.value(item) for item in items)
            case ast.Dict(keys=keys, values=values) if all(keys):
                return {
                    self.value(key): self.value(item)
                    for key, item in zip(keys, values, strict=True)
                    if key and not isinstance(self.value(key), Unknown | list | dict)
                }
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                value = self.value(operand)
                return -value if isinstance(value, int | float) else Unknown(ast.unparse(node))
            case ast.BinOp(left=left, op=ast.Mult(), right=right):
                both = self.value(left), self.value(right)
                return (
                    both[0] * both[1]
                    if all(type(each) in {int, float} for each in both) and max(map(abs, both)) < LARGEST_FACTOR
                    else Unknown(ast.unparse(node))
                )
            case ast.Call():
                return self.call(node)
            case _:
                return Unknown(ast.unparse(node))

    def call(self, node: ast.Call) -> Any:
        """A call's value if it makes a duration, a time or a zone, else the call."""
        name = dotted(node.func)
        args = tuple(self.value(each) for each in node.args)
        kwargs = {each.arg: self.value(each.value) for each in node.keywords if each.arg}
        made = Call(name.rpartition(".")[2], args, kwargs)
        known: dict[str, Callable[..., Any]] = {
            "timedelta": timedelta,
            "duration": timedelta,
            "datetime": _datetime,
            "ZoneInfo": _zone,
            "timezone": _zone,
        }
        maker = known.get(made.function)
        if maker is None:
            return made
        try:
            return maker(*args, **kwargs)
        except (TypeError, ValueError, OverflowError, ZoneInfoNotFoundError):
            return Unknown(ast.unparse(node))


def dotted(node: ast.expr) -> str:
    """`app.conf.beat_schedule` of such an expression, else nothing."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else ""


def _zone(name: str) -> ZoneInfo:
    if not isinstance(name, str):
        raise TypeError(name)
    return ZoneInfo(name)


def _datetime(*args: int, tz: Any = None, tzinfo: Any = None, **kwargs: Any) -> datetime:
    zone = tz or tzinfo
    year, month, day, *rest = args
    made = datetime(year, month, day, *rest, **kwargs)  # type: ignore[arg-type]  # noqa: DTZ001  a wrong type is a TypeError; the zone follows
    return made.replace(tzinfo=ZoneInfo(zone) if isinstance(zone, str) else zone)


def plain(value: Any) -> bool:
    """Whether a value is JSON all through."""
    if isinstance(value, dict):
        return all(isinstance(key, str) and plain(each) for key, each in value.items())
    if isinstance(value, list | tuple):
        return all(map(plain, value))
    return value is None or isinstance(value, str | int | float | bool)


def whole_seconds(value: Any, what: str) -> timedelta:
    """A number of seconds or a timedelta as a duration of at least a second. Raises ImportProblem."""
    if isinstance(value, timedelta):
        found = value
    elif isinstance(value, int | float) and not isinstance(value, bool):
        try:
            found = timedelta(seconds=value)
        except (OverflowError, ValueError):
            raise ImportProblem(f"{what} is {value}, which is no duration") from None
    else:
        raise ImportProblem(f"{what} is no duration that can be read")
    if found < timedelta(seconds=1) or found.microseconds:
        raise ImportProblem(f"{what} is {found.total_seconds():g} s, and Temporal's schedules count whole seconds")
    return found
