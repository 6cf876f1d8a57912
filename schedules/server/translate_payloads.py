"""From the payloads of a schedule to JSON values, and what they tell of their encryption."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

from schedules.errors import UndecodableError
from schedules.model import Unsaid
from schedules.server.codec import ENCODING, is_encrypted, key_of

if TYPE_CHECKING:
    from temporalio.api.common.v1 import Payload
    from temporalio.converter import DataConverter

JSON_ENCODINGS = frozenset({"json/plain", "binary/null"})
NO_JSON = "payload encoding"
"""The key under which stands how an argument is encoded that is no JSON: no spec can express it."""
PLAIN = "none"


class PayloadReader:
    """Reads the payloads of one schedule; `unreadable` says why one of them could not be decrypted, empty where all could."""

    def __init__(self, converter: DataConverter) -> None:
        self._converter = converter
        self._keys: set[str] = set()
        self.unreadable = ""
        self.metadata: list[Unsaid] = []
        """What payloads carry beside their encoding: no spec can express it."""

    @property
    def encryption(self) -> str:
        """The id of the key of all that was read, empty where nothing is encrypted; a mixture names all of it."""
        return "" if self._keys == {PLAIN} else ", ".join(sorted(self._keys))

    async def value(self, payload: Payload, place: str) -> Any:
        """A JSON value; of what is no JSON the encoding and the bytes, so that it is not taken for something else."""
        self._keys.add(key_of(payload) if is_encrypted(payload) else PLAIN)
        if codec := self._converter.payload_codec:
            try:
                [payload] = await codec.decode([payload])
            except UndecodableError as error:
                self.unreadable = str(error)
                return {NO_JSON: ENCODING.decode()}
        self.metadata += (
            Unsaid(f"metadata.{place}.{name}", text.decode(errors="replace"))
            for name, text in payload.metadata.items()
            if name != "encoding"
        )
        return self._value(payload)

    def _value(self, payload: Payload) -> Any:
        encoding = payload.metadata.get("encoding", b"").decode(errors="replace")
        if encoding in JSON_ENCODINGS:
            return self._converter.payload_converter.from_payload(payload)
        return {NO_JSON: encoding, "data": base64.b64encode(payload.data).decode()}
