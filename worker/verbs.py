"""The command's entry point as environments have it that were installed before it moved."""

from tickwright.command import main

__all__ = ["main"]
