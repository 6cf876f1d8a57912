"""Options that several commands share, their values, and the form of answers."""
