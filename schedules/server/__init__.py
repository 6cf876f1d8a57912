"""All that talks to Temporal: the connection, its calls, and what its messages mean."""
