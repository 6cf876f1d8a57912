"""One page for a team: what ran, what did not, and what comes."""
