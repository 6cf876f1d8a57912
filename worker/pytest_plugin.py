"""The plugin as environments have it that were installed before it moved."""

from tickwright.pytest_plugin import pytest_assertrepr_compare, pytest_pyfunc_call, tickwright

__all__ = ["pytest_assertrepr_compare", "pytest_pyfunc_call", "tickwright"]
