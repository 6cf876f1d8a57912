"""What became of each occurrence of a job: expected times and runs put side by side, with the evidence for what did not run."""
