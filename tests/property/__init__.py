"""Statements about any input, tried on many: longer than the unit tier may take."""
