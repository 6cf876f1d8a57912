"""The composition root: a worker's settings, parts, health and end."""
