"""The JSON Schema and the reference that are generated from the models."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

import schedules
from schedules.source.document import read_document
from schedules.spec.json_schema import json_schema, rendered
from schedules.spec.reference import SECTIONS, reference

SPECS = Path(__file__).parents[3] / "specs"
SHIPPED = Path(schedules.__path__[0]) / "tickwright.schema.json"


def errors(path: Path) -> list[str]:
    data: dict[str, Any] = read_document(str(path)).data
    return [error.message for error in Draft202012Validator(json_schema()).iter_errors(data)]


def test_the_shipped_schema_is_the_one_of_the_models() -> None:
    assert SHIPPED.read_text(encoding="utf-8") == rendered()


def test_the_schema_is_one() -> None:
    Draft202012Validator.check_schema(json_schema())


@pytest.mark.parametrize("path", sorted((SPECS / "good").iterdir()), ids=lambda path: path.name)
def test_every_good_spec_fits_the_schema(path: Path) -> None:
    assert errors(path) == []


@pytest.mark.parametrize(
    "name",
    [
        "command-empty", "command-exit-code", "command-text", "defaults-not-a-mapping", "defaults-typo",
        "defaults-value",
        "defaults-with-schedule", "environment-job-value", "environment-defaults-value", "environment-second-handler",
        "http-expect-status", "http-expect-status-one", "http-url-missing", "job-name-too-long", "job-name-with-space",
        "job-nothing", "jobs-missing", "jobs-list", "key-not-known-yet", "key-typo", "label-number", "name-in-job",
        "overlap-unknown", "paused-yes", "project-missing", "project-with-space", "python-handler-missing",
        "retry-backoff", "retry-fraction", "retry-none", "run-missing", "run-no-handler", "run-two-handlers",
        "schedule-at-without-time", "schedule-every-number", "schedule-missing", "schedule-no-entries",
        "schedule-number", "schedule-unknown-kind", "task-queue-empty", "timeout-words", "timeout-without-unit",
        "version-in-quotes", "version-missing", "version-unknown", "workflow-args-mapping",
    ],
)  # fmt: skip
def test_an_editor_shows_a_fault_of_shape(name: str) -> None:
    assert errors(SPECS / "bad" / f"{name}.yaml")


def test_defaults_are_written_as_in_a_file() -> None:
    retry = json_schema()["$defs"]["RetrySpec"]["properties"]

    assert (retry["initial"]["default"], retry["max"]["default"]) == ("10s", "5m")


def test_the_reference_has_a_row_for_every_key() -> None:
    schema = json_schema()
    definitions = schema["$defs"] | {"SpecFile": schema}
    keys = [key for section in SECTIONS for key in definitions[section]["properties"]]

    rows = [line.split("|")[1].strip() for line in reference().splitlines() if line.startswith("| `")]

    assert rows == [f"`{key}`" for key in keys]
    assert {name for name in definitions if not name.startswith("Partial")} == set(SECTIONS)


@pytest.mark.parametrize(
    "row",
    [
        "| `version` | `1` | required | Version of the format. |",
        (
            "| `schedule` | text or mapping or list | required | When it runs: a cron expression, `{cron: …}`, "
            "`{every: …, offset: …}`, `{at: …}`, `{business_day: …, at: …}`, `{calendar: …}`, or a list. |"
        ),
        "| `timeout` | duration | required, here or in `defaults` | Longest time for one attempt. |",
        "| `initial` | duration | `10s` | Wait before the second attempt. |",
        "| `argv` | list of text | required | The program and its arguments, one item each. |",
        "| `shell` | true or false | `false` | Give the one string in `argv` to `/bin/sh -c`. |",
    ],
)
def test_a_row_tells_key_type_default_and_meaning(row: str) -> None:
    assert row in reference().splitlines()
