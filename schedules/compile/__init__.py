"""From a job of a spec to the schedule that Temporal should have."""
