"""What several commands share: options, what they mean, and how an answer is given."""
