"""One step of a run: its parameters, its attempts and its result."""
