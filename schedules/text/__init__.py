"""Small texts: durations, time zones, addresses, near misses, YAML and JSON."""
