"""From a job's entries to the times at which it runs."""
