"""Registered `python` handlers."""

from __future__ import annotations

from datetime import date
from types import ModuleType
from typing import Any, Literal

import pytest
from pydantic import BaseModel, Field, field_validator, model_validator

from activities import HandlerError, JobContext, handler
from activities.registry import HandlerRegistry, RegistryError


class Params(BaseModel):
    """What `clean` takes."""

    table: str
    keep_days: int = Field(default=30, ge=1)
    before: date | None = None
    mode: Literal["soft", "hard"] = "soft"
    tables: list[str] = Field(default_factory=list)

    @field_validator("table")
    @classmethod
    def _lower(cls, value: str) -> str:
        if not value.islower():
            raise ValueError("must be in lower case")
        return value

    @model_validator(mode="after")
    def _no_system_table(self) -> Params:
        if self.table.startswith("pg_"):
            raise ValueError("system tables are not for cleaning")
        return self


@handler
def clean(params: Params, context: JobContext) -> int:
    return params.keep_days + context.attempt


@handler("ping")
async def async_ping() -> str:
    return "pong"


@handler("context-only")
def only_context(context: JobContext) -> str:
    return context.job


def module(name: str = "jobs", **attributes: Any) -> ModuleType:
    """A module with these attributes."""
    made = ModuleType(name)
    vars(made).update(attributes)
    return made


def registry(**attributes: Any) -> HandlerRegistry:
    return HandlerRegistry.from_modules([module(**attributes)])


def test_marked_functions_are_found_under_their_name() -> None:
    found = registry(a=clean, b=async_ping, c=only_context, d=print, e=3, Params=Params)
    assert found.names == ["clean", "context-only", "ping"]
    assert (found.get("clean").model, found.get("clean").takes_context, found.get("clean").is_async) == (
        Params,
        True,
        False,
    )
    assert (found.get("ping").model, found.get("ping").takes_context, found.get("ping").is_async) == (None, False, True)
    assert (found.get("context-only").model, found.get("context-only").takes_context) == (None, True)


def test_the_decorator_leaves_the_function_as_it_is() -> None:
    assert clean(Params(table="t"), JobContext(**_facts())) == 31


def test_one_function_in_two_modules_is_registered_once() -> None:
    found = HandlerRegistry.from_modules([module("a", clean=clean), module("b", clean=clean, again=clean)])
    assert found.names == ["clean"]


def test_two_functions_of_one_name_are_refused_with_both_places() -> None:
    @handler("clean")
    def other() -> None: ...

    with pytest.raises(RegistryError) as failure:
        HandlerRegistry.from_modules([module("a", clean=clean), module("b", other=other)])
    [problem] = failure.value.problems
    assert "`clean`" in problem
    assert f"tests.unit.activities.test_registry.clean ({__file__}:" in problem
    assert "other (" in problem


def test_all_bad_signatures_are_reported_at_once() -> None:
    @handler
    def two_models(params: Params, more: Params) -> None: ...

    @handler
    def untyped(params): ...  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202  what is refused here

    @handler
    def keyword(*, params: Params) -> None: ...

    @handler
    def generator() -> Any:
        yield 1

    with pytest.raises(RegistryError) as failure:
        registry(a=two_models, b=untyped, c=keyword, d=generator)
    assert [problem.split("`")[1] for problem in failure.value.problems] == [
        "two_models",
        "untyped",
        "keyword",
        "generator",
    ]
    assert "`more" in failure.value.problems[0]


def test_an_annotation_that_is_unknown_at_run_time_is_explained() -> None:
    @handler
    def hidden(params: OnlyForTypeCheckers) -> None: ...  # type: ignore[name-defined]  # noqa: F821  what is refused here

    with pytest.raises(RegistryError, match="TYPE_CHECKING"):
        registry(hidden=hidden)


def test_unknown_handler_is_a_permanent_error_with_a_near_miss() -> None:
    with pytest.raises(HandlerError, match="did you mean `clean`") as failure:
        registry(clean=clean).get("claen")
    assert failure.value.permanent
    [problem] = registry(clean=clean).check_params("claen", {})
    assert problem.path == ("handler",)


@pytest.mark.parametrize(
    ("params", "path", "said"),
    [
        ({}, ("params", "table"), "is required"),
        ({"table": "t", "keep_days": 0}, ("params", "keep_days"), "greater than or equal to 1; it is 0"),
        ({"table": "t", "keep_days": "many"}, ("params", "keep_days"), "integer"),
        (
            {"table": "t", "keep_day": 3},
            ("params", "keep_day"),
            "not a parameter; the parameters are: before, keep_days, mode",
        ),
        ({"table": "t", "mode": "x"}, ("params", "mode"), "'soft' or 'hard'"),
        ({"table": "t", "tables": "x"}, ("params", "tables"), "list"),
        ({"table": "t", "tables": {"a": "{job}"}}, ("params", "tables"), "list"),
        ({"table": "t", "tables": ["a", 3]}, ("params", "tables", 1), "string"),
        ({"table": "T"}, ("params", "table"), "must be in lower case; it is 'T'"),
        ({"table": "pg_x"}, ("params",), "system tables are not for cleaning"),
        ({"table": "{job}", "keep_days": 0}, ("params", "keep_days"), "greater"),
    ],
)
def test_wrong_parameters_are_found_by_lint(params: dict[str, Any], path: tuple[str | int, ...], said: str) -> None:
    [problem] = registry(clean=clean).check_params("clean", params)
    assert problem.path == path
    assert said in problem.message


def test_all_wrong_parameters_are_found_at_once() -> None:
    found = registry(clean=clean).check_params("clean", {"keep_day": 3, "mode": "x"})
    assert {problem.path for problem in found} == {("params", "keep_day"), ("params", "mode"), ("params", "table")}


@pytest.mark.parametrize(
    "params",
    [
        {"table": "t", "keep_days": "{attempt}"},
        {"table": "t", "before": "{scheduled_at:%F}"},
        {"table": "${secret:TABLE}", "before": "2027-03-01"},
        {"table": "T{job}"},
        {"table": "pg_{job}"},
        {"table": "t", "mode": "{step}"},
        {"table": "t", "tables": ["{job}"]},
    ],
)
def test_a_value_that_is_not_yet_known_is_not_judged(params: dict[str, Any]) -> None:
    assert registry(clean=clean).check_params("clean", params) == []


def test_parameters_for_a_handler_without_any_are_reported() -> None:
    [problem] = registry(ping=async_ping).check_params("ping", {"x": 1})
    assert problem.path == ("params",)
    assert registry(ping=async_ping).check_params("ping", {}) == []


def _facts() -> dict[str, Any]:
    return {"job": "j", "step": "s", "run_id": "r", "attempt": 1, "scheduled_at": date.min, "idempotency_key": "k"}
