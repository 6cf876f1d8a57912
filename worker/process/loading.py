"""A worker's own modules, loaded in less time and memory."""

from __future__ import annotations

import gc
import os
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

NEEDLESS = "rich"
"""structlog loads it, and pygments and attrs with it, wherever it is installed: for tracebacks that no log of a worker has."""
PLUGINS = "PYDANTIC_DISABLE_PLUGINS"
"""pydantic searches all that is installed for plugins; those of the user's models are still found, by the first of these."""


@contextmanager
def light_loading() -> Iterator[None]:
    """What is imported in the block finds no `NEEDLESS` and no plugins of pydantic; modules are no garbage to be searched for."""
    collecting = gc.isenabled()
    gc.disable()
    hidden, unset = NEEDLESS not in sys.modules, PLUGINS not in os.environ
    if hidden:
        sys.modules[NEEDLESS] = None  # type: ignore[assignment] # How Python is told that a module cannot be imported.
    if unset:
        os.environ[PLUGINS] = "__all__"
    try:
        yield
    finally:
        if collecting:
            gc.enable()
        if unset:
            del os.environ[PLUGINS]
        if hidden:
            del sys.modules[NEEDLESS]
