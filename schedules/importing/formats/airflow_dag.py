"""DAGs as a Python file's syntax tree shows them: their arguments, tasks and order."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from schedules.importing.formats.python_source import Call, Reader, dotted


@dataclass
class Dag:
    """One DAG of the file, as its `with` block or its variable shows it."""

    id: str
    line: int
    arguments: Mapping[str, Any]
    tasks: dict[str, tuple[str, Call]] = field(default_factory=dict)  #: by variable: the task's id and its operator
    after: dict[str, set[str]] = field(default_factory=dict)  #: by variable: those that come before it


def dags_of(tree: ast.Module, reader: Reader) -> Iterator[Dag]:
    """The DAGs of a file, in `with` blocks or in variables."""
    for node in tree.body:
        match node:
            case ast.With(items=[ast.withitem(context_expr=ast.Call() as call)]) if dotted(call.func).endswith("DAG"):
                dag = _dag(call, reader)
                _read_tasks(node.body, reader, dag)
                yield dag
            case ast.Assign(value=ast.Call() as call) if dotted(call.func).endswith("DAG"):
                dag = _dag(call, reader)
                _read_tasks(tree.body, reader, dag)
                yield dag
            case _:
                pass


def _dag(call: ast.Call, reader: Reader) -> Dag:
    made = reader.call(call)
    identifier = made.args[0] if made.args else made.kwargs.get("dag_id", "dag")
    return Dag(str(identifier), call.lineno, made.kwargs)


def _read_tasks(body: list[ast.stmt], reader: Reader, dag: Dag) -> None:
    for node in body:
        match node:
            case ast.Assign(targets=[ast.Name(id=variable)], value=ast.Call() as call) if dotted(call.func).endswith(
                ("Operator", "Sensor")
            ):
                made = reader.call(call)
                dag.tasks[variable] = str(made.kwargs.get("task_id", variable)), made
            case ast.Expr(value=ast.Call() as call) if dotted(call.func).endswith(("Operator", "Sensor")):
                made = reader.call(call)
                dag.tasks[f"task {len(dag.tasks)}"] = str(made.kwargs.get("task_id", "task")), made
            case ast.Expr(value=ast.BinOp() as chain):
                _read_chain(chain, dag)
            case ast.Expr(
                value=ast.Call(
                    func=ast.Attribute(value=ast.Name(id=first), attr=("set_downstream" | "set_upstream") as way),
                    args=[other],
                )
            ):
                pairs = [(first, name) for name in _names(other)]
                for before, behind in pairs if way == "set_downstream" else [(b, a) for a, b in pairs]:
                    dag.after.setdefault(behind, set()).add(before)
            case _:
                pass


def _read_chain(node: ast.expr, dag: Dag) -> list[str]:
    """`a >> [b, c] >> d`: the names at the right end of the chain."""
    if not isinstance(node, ast.BinOp):
        return _names(node)
    left, right = _read_chain(node.left, dag), _names(node.right)
    before, behind = (left, right) if isinstance(node.op, ast.RShift) else (right, left)
    for name in behind:
        dag.after.setdefault(name, set()).update(before)
    return right


def _names(node: ast.expr) -> list[str]:
    if isinstance(node, ast.Name):
        return [node.id]
    return (
        [each.id for each in node.elts if isinstance(each, ast.Name)] if isinstance(node, ast.List | ast.Tuple) else []
    )
