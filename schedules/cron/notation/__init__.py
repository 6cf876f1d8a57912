"""From the text of an expression, in many dialects, to what it says."""
