"""Counters of a worker, and the metrics that it serves."""
