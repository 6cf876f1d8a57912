"""The files of the page, which are part of the package."""

from __future__ import annotations

from hashlib import sha256
from importlib.resources import files

from schedules.board.latest import Document

TYPES = {
    "html": "text/html; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
}
INDEX = "index.html"


def page_files() -> dict[str, tuple[Document, str]]:
    """By name: the file and its type."""
    found = (each for each in files("schedules.board").joinpath("page").iterdir() if each.is_file())
    return {each.name: (_document(each.read_bytes()), TYPES[each.name.rpartition(".")[2]]) for each in found}


def _document(text: bytes) -> Document:
    return Document.of(text, sha256(text).hexdigest()[:16])
