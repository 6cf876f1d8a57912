"""One loader per format, each to the neutral value of `old_job`."""
