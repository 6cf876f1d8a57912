"""Whether the worker is well: /livez, /readyz, its polls and its connection."""
