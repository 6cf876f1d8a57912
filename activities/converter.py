"""The SDK's payload converter, with the wire format read by pydantic: a hundred times as fast as the SDK's walk through nested dataclasses."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter, ValidationError
from temporalio.converter import CompositePayloadConverter, DefaultPayloadConverter, JSONPlainPayloadConverter

from activities import contract
from activities.contract import ChildOutput, StepResult
from activities.steps.readable import read_json, readable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from temporalio.api.common.v1 import Payload

UNREADABLE = "its result cannot be read"
SHOWN = 200


class WireJSONConverter(JSONPlainPayloadConverter):
    """JSON as the SDK writes and reads it; what it reads the same way, but faster, are the dataclasses of the contract."""

    def from_payload(self, payload: Payload, type_hint: type | None = None) -> Any:
        """The value. Raises ValueError for JSON that does not fit the type; fields that it does not know are left out."""
        if type_hint is ChildOutput or getattr(type_hint, "__module__", None) != contract.__name__:
            return super().from_payload(payload, type_hint)
        try:
            return _reader(type_hint).validate_json(payload.data)
        except ValidationError as error:
            if error.errors(include_input=False)[0]["type"] != "json_invalid":
                raise
        # Half of a character, or nested deeper than that parser goes: written by an earlier release, or by another client.
        return _reader(type_hint).validate_python(readable(read_json(payload.data)))


class WirePayloadConverter(CompositePayloadConverter):
    """For `DataConverter(payload_converter_class=…)`."""

    def __init__(self) -> None:
        usual = DefaultPayloadConverter.default_encoding_payload_converters
        super().__init__(
            *(WireJSONConverter() if isinstance(each, JSONPlainPayloadConverter) else each for each in usual)
        )

    def from_payloads(self, payloads: Sequence[Payload], type_hints: list[type] | None = None) -> list[Any]:
        """The values. Raises what the converters raise, apart from what a step gave back: that is then a failure to be told.

        The SDK would have the server try the same workflow task again for ever.
        """
        try:
            return super().from_payloads(payloads, type_hints)
        except Exception as error:  # whatever a converter raises
            if type_hints == [StepResult]:
                return [StepResult("", None, None, 0.0, "failed", f"{UNREADABLE}: {_first_line(error)}")]
            if type_hints == [ChildOutput]:
                return [f"[{UNREADABLE}: {_first_line(error)}]"]
            raise


def _first_line(error: Exception) -> str:
    """Without the value, which may be of any size."""
    if isinstance(error, ValidationError):
        first = error.errors(include_input=False, include_url=False)[0]
        return f"{'.'.join(map(str, first['loc'])) or 'the whole'}: {first['msg']}"
    return (str(error).partition("\n")[0] or type(error).__name__)[:SHOWN]


@cache
def _reader(wire_type: Any) -> TypeAdapter[Any]:
    return TypeAdapter(wire_type)
