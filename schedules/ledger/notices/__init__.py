"""Notices to people about occurrences and incidents; alerts are rules of Prometheus, and stand in `monitor`."""
