"""What an operator does to jobs: pauses, triggers and backfills, and how they are followed."""
