"""Faults of TLS settings that no waiting mends, found without the SDK, which tells them only in words of its own."""

from __future__ import annotations

import asyncio
import ssl
from contextlib import suppress

from schedules.errors import SettingsError

SECONDS = 2.0
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\0\0\0\4\0\0\0\0\0"
"""What a client of HTTP/2 says first, RFC 9113, 3.4, with empty settings."""
SETTINGS_FRAME = 4
RECORDS = (b"\x15\x03", b"\x16\x03")
"""With what a server of TLS begins: an alert or a handshake, of any version 1.x or 3.0 (RFC 8446, 5.1)."""
PAIR = "TEMPORAL_TLS_CLIENT_CERT_PATH and TEMPORAL_TLS_CLIENT_KEY_PATH (or _DATA)"


def check_pair(certificate: bytes, key: bytes) -> None:
    """The key is that of the certificate. Raises SettingsError, also for what cannot be read."""
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_pem_private_key
    from cryptography.x509 import load_pem_x509_certificates

    form = (Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    try:
        of_certificate = load_pem_x509_certificates(certificate)[0].public_key()
        of_key = load_pem_private_key(key, password=None).public_key()
    except (ValueError, TypeError, UnsupportedAlgorithm):  # The second for a key with a password.
        raise SettingsError(
            f"{PAIR}: one of them is damaged, or the key is encrypted; give both in PEM format, the key without a password"
        ) from None
    if of_certificate.public_bytes(*form) != of_key.public_bytes(*form):
        raise SettingsError(f"{PAIR}: the key is not that of the certificate; give the two that were made together")


async def check_protocol(host: str, port: int, *, tls: bool) -> None:
    """After a connection failed: raises SettingsError where the server speaks TLS and we do not, or the other way round."""
    plain, sealed = await asyncio.gather(_speaks_http2(host, port), _speaks_tls(host, port))
    if tls and plain and not sealed:
        raise SettingsError(
            f"Temporal at {host}:{port} speaks no TLS, and the settings ask for it (TEMPORAL_TLS_*, TEMPORAL_API_KEY or the profile); "
            "leave them out, set TEMPORAL_TLS=false, or give the address that speaks TLS"
        )
    if sealed and not plain and not tls:
        raise SettingsError(
            f"Temporal at {host}:{port} speaks TLS, and the settings do not ask for it; set TEMPORAL_TLS=true, TEMPORAL_API_KEY or "
            "TEMPORAL_TLS_CLIENT_CERT_PATH and TEMPORAL_TLS_CLIENT_KEY_PATH"
        )


async def _speaks_http2(host: str, port: int) -> bool:
    answer = await _answer(host, port, PREFACE)
    return answer[3:4] == bytes([SETTINGS_FRAME])


async def _speaks_tls(host: str, port: int) -> bool:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.set_alpn_protocols(["h2"])
    said = ssl.MemoryBIO()
    with suppress(ssl.SSLWantReadError):
        context.wrap_bio(ssl.MemoryBIO(), said, server_hostname=host).do_handshake()
    return (await _answer(host, port, said.read())).startswith(RECORDS)


async def _answer(host: str, port: int, hello: bytes) -> bytes:
    """The first bytes that the server says to it; none where it says nothing."""
    with suppress(OSError, TimeoutError, asyncio.IncompleteReadError):
        async with asyncio.timeout(SECONDS):
            reader, writer = await asyncio.open_connection(host, port)
            try:
                writer.write(hello)
                return await reader.readexactly(9)
            finally:
                writer.close()
    return b""
