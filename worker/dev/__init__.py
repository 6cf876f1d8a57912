"""`python -m worker.dev`: everything on one machine."""
