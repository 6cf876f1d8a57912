"""The version of the whole package."""

__version__ = "0.1.0"
