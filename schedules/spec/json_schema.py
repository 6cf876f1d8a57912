"""The JSON Schema of the spec format, so that editors complete and check spec files."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from copy import deepcopy
from datetime import timedelta
from typing import Any

from pydantic.json_schema import GenerateJsonSchema

from schedules.spec.fields import JOB_NAME
from schedules.spec.file import SHARED, SpecFile
from schedules.spec.handlers import KINDS
from schedules.spec.job import JobSpec
from schedules.text.duration import format_duration

_MERGED_BY_KEY = ("JobSpec", "RunSpec", *(kind.__name__ for kind in KINDS.values()))


class _InSpecWords(GenerateJsonSchema):
    def encode_default(self, dft: Any) -> Any:
        return format_duration(dft) if isinstance(dft, timedelta) else super().encode_default(dft)


def json_schema() -> dict[str, Any]:
    """A whole file: jobs may lack what defaults can give, and what an environment changes may lack anything."""
    schema = SpecFile.model_json_schema(schema_generator=_InSpecWords)
    job = JobSpec.model_json_schema(schema_generator=_InSpecWords)
    definitions = schema["$defs"] | job.pop("$defs")
    del job["properties"]["name"]
    job["required"] = [key for key in job["required"] if key not in ("name", *SHARED)]
    definitions["JobSpec"] = job
    definitions |= _partial(definitions)
    schema["properties"]["jobs"] |= _jobs("JobSpec")
    definitions["Environment"]["properties"]["jobs"] |= _jobs("PartialJobSpec")
    schema["patternProperties"] = {"^x-": {"description": "Anything, for its anchors."}}
    schema["$defs"] = dict(sorted(definitions.items()))
    for mapping in _mappings(schema):
        if isinstance(mapping.get("title"), str):  # pydantic's, made up from the key
            del mapping["title"]
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "Tickwright spec file"} | schema


def rendered() -> str:
    """The text of the file that is shipped."""
    return json.dumps(json_schema(), indent=2, ensure_ascii=False) + "\n"


def _jobs(definition: str) -> dict[str, Any]:
    return {"propertyNames": JOB_NAME, "additionalProperties": {"$ref": f"#/$defs/{definition}"}}


def _partial(definitions: dict[str, Any]) -> dict[str, Any]:
    """What merges key by key, with nothing required. A schedule is replaced as a whole, and stays as it is."""
    partial = {f"Partial{name}": deepcopy(definitions[name]) for name in _MERGED_BY_KEY}
    references = {f"#/$defs/{name}": f"#/$defs/Partial{name}" for name in _MERGED_BY_KEY}
    for definition in partial.values():
        definition.pop("required", None)
    del partial["PartialJobSpec"]["oneOf"]
    for mapping in _mappings(partial):
        if mapping.get("$ref") in references:
            mapping["$ref"] = references[mapping["$ref"]]
    return partial


def _mappings(node: Any) -> Iterator[dict[str, Any]]:
    if isinstance(node, dict):
        yield node
    for inner in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
        yield from _mappings(inner)


if __name__ == "__main__":
    sys.stdout.write(rendered())
