"""Encryption of everything that Temporal stores of a job: arguments, results, failures, heartbeats, memo, summaries.

A payload becomes one of encoding `binary/encrypted` (the name that Temporal's own samples use) whose data is a nonce of 12
bytes and what AES-256-GCM makes of the whole payload, its metadata included. The key's id stands beside it, and is authentic.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from temporalio.api.common.v1 import Payload
from temporalio.converter import DataConverter, DefaultFailureConverterWithEncodedAttributes, PayloadCodec

from activities.converter import WirePayloadConverter
from schedules.errors import UndecodableError
from schedules.server.codec_keys import KEYS_FILE, CodecKeys
from schedules.text.shown import shown

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

ENCODING = b"binary/encrypted"
KEY_ID = "encryption-key-id"
NONCE_BYTES = 12
"""What NIST SP 800-38D recommends; random ones allow 2^32 payloads a key (section 8.3)."""


class EncryptionCodec(PayloadCodec):
    """Encrypts with the active key and decrypts with any; what is not encrypted passes through decode as it is."""

    def __init__(self, keys: CodecKeys) -> None:
        self.active = keys.active
        self.ciphers: dict[str, AESGCM] = {key_id: _cipher(key) for key_id, key in keys.keys.items()}

    async def encode(self, payloads: Sequence[Payload]) -> list[Payload]:
        """One for each, or the same ones where no key is active."""
        return [self._encrypted(payload) for payload in payloads] if self.active else list(payloads)

    async def decode(self, payloads: Sequence[Payload]) -> list[Payload]:
        """One for each. Raises UndecodableError."""
        return [self._decrypted(payload) if is_encrypted(payload) else payload for payload in payloads]

    def _encrypted(self, payload: Payload) -> Payload:
        nonce = os.urandom(NONCE_BYTES)
        data = self.ciphers[self.active].encrypt(nonce, payload.SerializeToString(), _bound(self.active))
        return Payload(metadata={"encoding": ENCODING, KEY_ID: self.active.encode()}, data=nonce + data)

    def _decrypted(self, payload: Payload) -> Payload:
        from cryptography.exceptions import InvalidTag

        key_id = key_of(payload)
        if key_id not in self.ciphers:
            raise UndecodableError(
                f"a payload is encrypted with the key {shown(key_id)}, which is not among the keys given "
                f"({', '.join(self.ciphers) or 'none'}); add it to {KEYS_FILE}"
            )
        try:
            plain = self.ciphers[key_id].decrypt(payload.data[:NONCE_BYTES], payload.data[NONCE_BYTES:], _bound(key_id))
        except (InvalidTag, ValueError):
            raise UndecodableError(
                f"a payload that names the key {shown(key_id)} cannot be decrypted with it: "
                "it was changed since, or the key given under that id is another one"
            ) from None
        return Payload.FromString(plain)


def data_converter(keys: CodecKeys) -> DataConverter:
    """The SDK's own converter with this encryption; failures' messages and stack traces are encrypted as well."""
    plain = DataConverter(payload_converter_class=WirePayloadConverter, payload_codec=EncryptionCodec(keys))
    if not keys.active:
        return plain
    return replace(plain, failure_converter_class=DefaultFailureConverterWithEncodedAttributes)


def active_key(converter: DataConverter) -> str:
    """The id of the key with which a client encrypts; empty where it does not."""
    codec = converter.payload_codec
    return codec.active if isinstance(codec, EncryptionCodec) else ""


def known_keys(converter: DataConverter) -> tuple[str, ...]:
    """The ids of the keys with which a client decrypts."""
    codec = converter.payload_codec
    return tuple(codec.ciphers) if isinstance(codec, EncryptionCodec) else ()


def is_encrypted(payload: Payload) -> bool:
    """Whether the payload says so of itself."""
    return payload.metadata.get("encoding") == ENCODING


def key_of(payload: Payload) -> str:
    """The id of the key that an encrypted payload names."""
    return payload.metadata.get(KEY_ID, b"").decode(errors="replace")


def _cipher(key: bytes) -> AESGCM:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM  # Only those who encrypt pay for its import.

    return AESGCM(key)


def _bound(key_id: str) -> bytes:
    """What is authentic beside the data: nobody can pass it off as encrypted in another way, or with another key."""
    return ENCODING + b"\0" + key_id.encode()
