"""The account of a job's occurrences: expected times and runs put side by side, with evidence for those that did not run."""
