"""Operations on jobs: pauses, triggers and backfills, and how they are followed."""
