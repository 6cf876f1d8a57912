"""The terminal of a command: output, progress, tables and signals."""
