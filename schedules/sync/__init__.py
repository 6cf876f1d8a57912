"""Makes a Temporal namespace match the spec files: observe, plan, apply."""
