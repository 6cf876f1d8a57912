"""Keys of encryption as they stand in a setting; the same ones in every process."""

from __future__ import annotations

import base64
import hashlib


def key_text(key_id: str, kind: str = "") -> str:
    """An entry of TICKWRIGHT_CODEC_KEYS; with another `kind` another key of the same id."""
    return f"{key_id}:{base64.b64encode(hashlib.sha256((key_id + kind).encode()).digest()).decode()}"
