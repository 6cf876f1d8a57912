"""The composition root: a worker's settings, parts, health and end."""

__version__ = "0.1.0"
"""Of the whole package; the build that a worker announces unless its settings name one."""
