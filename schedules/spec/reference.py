"""The spec reference in Markdown, generated from the models: a table of keys for each of them."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from typing import Any

from schedules.spec.calendars import DATES
from schedules.spec.fields import CLOCK_TIME, LOCAL_TIME, NAME
from schedules.spec.file import SHARED
from schedules.spec.handlers import KINDS
from schedules.spec.job import JobSpec
from schedules.spec.json_schema import json_schema
from schedules.text.duration import PATTERN

SECTIONS = {
    "SpecFile": "The file",
    "Defaults": "`defaults`",
    "Environment": "`environments.<name>`",
    "CalendarSpec": "`calendars.<name>`",
    "ChannelSpec": "`channels.<name>`",
    "WebhookSpec": "`channels.<name>.webhook`",
    "JobSpec": "`jobs.<name>`",
    "CronEntry": "`schedule`: `{cron: …}`, or the expression alone",
    "EveryEntry": "`schedule`: `{every: …}`",
    "AtEntry": "`schedule`: `{at: …}`",
    "BusinessDayEntry": "`schedule`: `{business_day: …, at: …}`",
    "CalendarEntry": "`schedule`: `{calendar: …}`",
    "DstSpec": "`dst`",
    "LintSpec": "`lint`",
    "AlertsSpec": "`alerts`",
    "CatchUpSpec": "`catchup`",
    "RetrySpec": "`retry`",
    "OnFailureSpec": "`on_failure`",
    "OnMissedSpec": "`on_missed`",
    "PauseAfterSpec": "`pause_after`",
    "RunSpec": "`run`",
    "StepSpec": "`steps[n]`",
    "CompensateSpec": "`steps[n].compensate`",
    **{kind.__name__: f"`run.{name}`, also of steps" for name, kind in KINDS.items()},
    "DirectSpec": "`run.workflow.direct`",
    "DirectRetrySpec": "`run.workflow.direct.retry`",
}
_REQUIRED_SOMEWHERE = frozenset(
    key for key, field in JobSpec.model_fields.items() if key in SHARED and field.is_required()
)
_PATTERNS = {PATTERN: "duration", LOCAL_TIME: "time", CLOCK_TIME: "time of day", DATES: "date or range", NAME: "name"}
_PLAIN = {"string": "text", "integer": "whole number", "boolean": "true or false", "object": "mapping"}


def reference() -> str:
    """Markdown: for each part of the format what it is, and its keys with type, default and meaning."""
    schema = json_schema()
    definitions = schema["$defs"] | {"SpecFile": schema}
    return "\n".join(line for name, title in SECTIONS.items() for line in _section(name, definitions[name]))


def _section(name: str, definition: dict[str, Any]) -> Iterator[str]:
    yield f"#### {SECTIONS[name]}\n\n{definition['description']}\n"
    yield "| key | type | default | meaning |\n|---|---|---|---|"
    for key, schema in definition["properties"].items():
        default = _default(schema, required=key in definition.get("required", ()))
        if key in _REQUIRED_SOMEWHERE and name == "JobSpec":
            default = "required, here or in `defaults`"
        types = " or ".join(dict.fromkeys(_types(schema)))
        yield f"| `{key}` | {types} | {default} | {schema['description']} |"
    yield ""


def _default(schema: dict[str, Any], *, required: bool) -> str:
    if required:
        return "required"
    value = schema.get("default")
    return "" if value in (None, [], "") else f"`{value if isinstance(value, str) else json.dumps(value)}`"


def _types(schema: dict[str, Any]) -> Iterator[str]:
    alternatives = schema.get("anyOf") or schema.get("oneOf")
    if alternatives:
        for one in alternatives:
            yield from _types(one)
    elif "enum" in schema or "const" in schema:
        yield " or ".join(f"`{word}`" for word in schema.get("enum", [schema.get("const")]))
    elif "$ref" in schema:
        yield "mapping"
    elif schema.get("type") == "array":
        items = " or ".join(dict.fromkeys(_types(schema["items"])))
        yield "list" if items in {"anything", "text or mapping"} else f"list of {items}"
    elif schema.get("type") != "null":
        yield _PATTERNS.get(schema.get("pattern", ""), _PLAIN.get(schema.get("type", ""), "anything"))


if __name__ == "__main__":
    sys.stdout.write(reference())
