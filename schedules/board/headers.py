"""Headers that say what the pages of the board let a browser do."""

from __future__ import annotations

HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-cache",
}
"""On every answer: scripts and styles are files of the board's own, and nothing else is loaded from anywhere."""
CHALLENGES = ("Bearer", 'Basic realm="Tickwright board: the token is the password", charset="UTF-8"')
