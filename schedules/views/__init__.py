"""Results for people and programs: text, Markdown and JSON."""
