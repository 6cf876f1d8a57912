"""Encryption of single payloads: what it hides, and that nothing but what was encrypted comes back."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from temporalio.api.common.v1 import Payload
from temporalio.api.failure.v1 import Failure
from temporalio.exceptions import ApplicationError

from schedules.errors import UndecodableError
from schedules.server.codec import EncryptionCodec, data_converter
from schedules.server.codec_keys import CodecKeys

ONE, TWO = bytes(range(32)), bytes(range(100, 132))
KEYS = CodecKeys("one", {"one": ONE, "two": TWO})
PLAIN = Payload(metadata={"encoding": b"json/plain", "note": b"marker"}, data=b'"marker"')


async def encrypted(payload: Payload = PLAIN, keys: CodecKeys = KEYS) -> Payload:
    [done] = await EncryptionCodec(keys).encode([payload])
    return done


async def decrypted(payload: Payload, keys: CodecKeys = KEYS) -> Payload:
    [done] = await EncryptionCodec(keys).decode([payload])
    return done


async def test_what_is_encrypted_comes_back_whole_and_each_time_looks_different() -> None:
    first, second = await encrypted(), await encrypted()
    assert await decrypted(first) == await decrypted(second) == PLAIN
    assert first.data != second.data
    assert b"marker" not in first.SerializeToString()
    assert dict(first.metadata) == {"encoding": b"binary/encrypted", "encryption-key-id": b"one"}
    assert await EncryptionCodec(KEYS).decode([first, PLAIN, second]) == [PLAIN, PLAIN, PLAIN]


async def test_it_is_aes_256_gcm_with_the_nonce_in_front_and_the_key_id_authentic() -> None:
    """So that a user can read what is stored with another program."""
    payload = await encrypted()
    bound = b"binary/encrypted\0one"
    assert Payload.FromString(AESGCM(ONE).decrypt(payload.data[:12], payload.data[12:], bound)) == PLAIN


async def test_a_key_that_is_no_longer_active_still_decrypts() -> None:
    old = await encrypted(keys=CodecKeys("two", {"two": TWO}))
    assert await decrypted(old) == await decrypted(old, CodecKeys("", {"two": TWO})) == PLAIN


async def test_without_an_active_key_nothing_is_encrypted() -> None:
    assert await encrypted(keys=CodecKeys("", {"two": TWO})) == await encrypted(keys=CodecKeys()) == PLAIN


def changed(payload: Payload, place: int) -> Payload:
    data = bytearray(payload.data)
    data[place] ^= 1
    return Payload(metadata=payload.metadata, data=bytes(data))


@pytest.mark.parametrize(
    "tamper",
    [
        lambda payload: changed(payload, 0),
        lambda payload: changed(payload, 12),
        lambda payload: changed(payload, -1),
        lambda payload: Payload(metadata=payload.metadata, data=payload.data[:-1]),
        lambda payload: Payload(metadata=payload.metadata, data=payload.data[:5]),
        lambda payload: Payload(metadata=payload.metadata),
    ],
    ids=["nonce", "text", "tag", "cut", "no nonce", "nothing"],
)
async def test_a_payload_that_was_changed_is_refused(tamper: Callable[[Payload], Payload]) -> None:
    with pytest.raises(UndecodableError, match='names the key "one" cannot be decrypted with it'):
        await decrypted(tamper(await encrypted()))


async def test_another_id_for_the_same_key_is_refused() -> None:
    """Only what is authentic beside the data tells these two apart."""
    same = CodecKeys("one", {"one": ONE, "same": ONE})
    payload = await encrypted(keys=same)
    payload.metadata["encryption-key-id"] = b"same"
    with pytest.raises(UndecodableError, match='names the key "same"'):
        await decrypted(payload, same)


async def test_another_key_under_the_same_id_is_refused() -> None:
    with pytest.raises(UndecodableError, match="the key given under that id is another one"):
        await decrypted(await encrypted(), CodecKeys("one", {"one": TWO}))


@pytest.mark.parametrize(("keys", "given"), [(CodecKeys("two", {"two": TWO}), "two"), (CodecKeys(), "none")])
async def test_an_unknown_key_is_named_with_those_that_are_known(keys: CodecKeys, given: str) -> None:
    with pytest.raises(UndecodableError) as refused:
        await decrypted(await encrypted(), keys)
    assert str(refused.value) == (
        f'a payload is encrypted with the key "one", which is not among the keys given ({given}); '
        "add it to TICKWRIGHT_CODEC_KEYS_FILE"
    )


def failing() -> ApplicationError:
    cause = ValueError("marker-in-the-cause")
    try:
        raise ApplicationError("marker-in-the-message", {"at": "marker-in-details"}, type="failed") from cause  # noqa: TRY301
    except ApplicationError as error:
        return error


async def test_of_a_failure_only_the_type_stays_readable() -> None:
    failure = Failure()
    await data_converter(KEYS).encode_failure(failing(), failure)
    stored = failure.SerializeToString()
    assert b"marker" not in stored
    assert b"test_codec.py" not in stored, "the stack trace"
    assert failure.application_failure_info.type == "failed"
    read = await data_converter(KEYS).decode_failure(failure)
    assert isinstance(read, ApplicationError)
    assert (read.message, read.details) == ("marker-in-the-message", ({"at": "marker-in-details"},))
    assert "marker-in-the-cause" in str(read.__cause__)


async def test_a_failure_that_was_encrypted_is_still_read_once_encryption_is_off() -> None:
    failure = Failure()
    await data_converter(KEYS).encode_failure(failing(), failure)
    read = await data_converter(CodecKeys("", {"one": ONE})).decode_failure(failure)
    assert "marker-in-the-message" in str(read)
