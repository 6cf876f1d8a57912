"""What a worker counts, and the metrics that it serves."""
