"""What wins when layers merge, and where a merged value came from."""

from __future__ import annotations

from typing import Any

import pytest

from schedules.spec.layers import Layer, merge, merge_job, origins

DEFAULTS, JOB, OVERRIDE = ("defaults",), ("jobs", "a"), ("environments", "e", "jobs", "a")


@pytest.mark.parametrize(
    ("weak", "strong", "merged"),
    [
        ({"a": 1}, {"b": 2}, {"a": 1, "b": 2}),
        ({"a": 1}, {"a": 2}, {"a": 2}),
        ({"a": {"x": 1, "y": 1}}, {"a": {"y": 2}}, {"a": {"x": 1, "y": 2}}),
        ({"a": {"b": {"c": 1}}}, {"a": {"b": {"d": 2}}}, {"a": {"b": {"c": 1, "d": 2}}}),
        ({"a": [1, 2]}, {"a": [3]}, {"a": [3]}),
        ({"a": {"x": 1}}, {"a": None}, {"a": None}),
        ({"a": 1}, {"a": {"x": 1}}, {"a": {"x": 1}}),
    ],
)
def test_mappings_merge_and_all_else_is_replaced(
    weak: dict[str, Any], strong: dict[str, Any], merged: dict[str, Any]
) -> None:
    assert merge(weak, strong) == merged


def test_merging_changes_neither_side() -> None:
    weak: dict[str, Any] = {"a": {"x": 1}}
    strong: dict[str, Any] = {"a": {"y": 2}}

    merge(weak, strong)["a"]["z"] = 3

    assert (weak, strong) == ({"a": {"x": 1}}, {"a": {"y": 2}})


@pytest.mark.parametrize(
    ("weak", "strong", "merged"),
    [
        ({"schedule": {"every": "5m", "offset": "1m"}}, {"schedule": {"every": "1h"}}, {"schedule": {"every": "1h"}}),
        (
            {"run": {"http": {"url": "u", "method": "GET"}}},
            {"run": {"http": {"url": "v"}}},
            {"run": {"http": {"url": "v", "method": "GET"}}},
        ),
        ({"run": {"http": {"url": "u"}}}, {"run": {"command": ["a"]}}, {"run": {"command": ["a"]}}),
        (
            {"run": {"command": ["a", "b"]}},
            {"run": {"command": {"cwd": "/"}}},
            {"run": {"command": {"argv": ["a", "b"], "cwd": "/"}}},
        ),
        (
            {"run": {"command": {"argv": ["a"], "cwd": "/"}}},
            {"run": {"command": ["b"]}},
            {"run": {"command": {"argv": ["b"], "cwd": "/"}}},
        ),
        ({"run": {"http": {}}}, {"run": None}, {"run": None}),
    ],
)
def test_a_schedule_and_another_handler_replace_as_a_whole(
    weak: dict[str, Any], strong: dict[str, Any], merged: dict[str, Any]
) -> None:
    assert merge_job(weak, strong) == merged


@pytest.mark.parametrize(
    ("layers", "path", "where"),
    [
        ([{"timeout": 1}, {}, {}], ("timeout",), (DEFAULTS, ("timeout",))),
        ([{"timeout": 1}, {"timeout": 2}, {}], ("timeout",), (JOB, ("timeout",))),
        ([{"retry": {"max": 1}}, {}, {"retry": {"initial": 1}}], ("retry", "max"), (DEFAULTS, ("retry", "max"))),
        ([{"retry": {"max": 1}}, {"retry": 5}, {"retry": {}}], ("retry", "max"), (OVERRIDE, ("retry",))),
        ([{}, {"schedule": {"every": 1}}, {"schedule": "x"}], ("schedule", 0, "every"), (OVERRIDE, ("schedule",))),
        (
            [{}, {"schedule": {"every": 1, "offset": 1}}, {"schedule": {"every": 1}}],
            ("schedule", 0, "offset"),
            (OVERRIDE, ("schedule",)),
        ),
        ([{}, {"schedule": ["x", "y"]}, {}], ("schedule", 1, "cron"), (JOB, ("schedule", 1))),
        (
            [{}, {"run": {"http": {"url": 1}}}, {"run": {"http": {}}}],
            ("run", "http", "url"),
            (JOB, ("run", "http", "url")),
        ),
        ([{}, {"run": {"http": {"url": 1}}}, {"run": {"command": []}}], ("run",), (OVERRIDE, ("run",))),
        (
            [{}, {"run": {"command": ["a", 1]}}, {"run": {"command": {"cwd": "/"}}}],
            ("run", "command", "argv", 1),
            (JOB, ("run", "command", 1)),
        ),
        ([{}, {"run": {"http": {}}}, {}], ("run", "http", "url"), (JOB, ("run", "http"))),
    ],
)
def test_a_merged_value_is_traced_to_where_it_is_written(
    layers: list[dict[str, Any]], path: tuple[str | int, ...], where: tuple[object, object]
) -> None:
    made_of = [Layer(place, data) for place, data in zip((DEFAULTS, JOB, OVERRIDE), layers, strict=True)]

    origin = origins(made_of, path)[0]

    assert (origin.layer.path, origin.path) == where
