"""What a registry is shown: the credentials that `docker login` keeps for the worker's user."""

from __future__ import annotations

import json
import os
from base64 import b64decode, urlsafe_b64encode
from pathlib import Path

_HUB = "https://index.docker.io/v1/"


def registry_auth(image: str) -> str:
    """The header for the image's registry; empty for none."""
    folder = Path(os.environ.get("DOCKER_CONFIG") or Path.home() / ".docker")
    try:
        auths = json.loads((folder / "config.json").read_text())["auths"]
    except (OSError, ValueError, KeyError):
        return ""
    first, slash, _ = image.partition("/")
    registry = first if slash and (first == "localhost" or set(".:") & set(first)) else _HUB
    entry = auths.get(registry) or auths.get(f"https://{registry}") or {}
    try:
        user, _, password = b64decode(entry["auth"]).decode().partition(":")
    except (KeyError, ValueError):
        return ""
    return urlsafe_b64encode(json.dumps({"username": user, "password": password}).encode()).decode()
