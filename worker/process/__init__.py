"""The worker's process from start to end: loading, signals, drain, exit."""
