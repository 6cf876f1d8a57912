"""Who was told of occurrences and incidents, by notices; alerts of Prometheus are another thing."""
