"""Statements about any input, and about years of runs: longer than the unit tier may take."""
