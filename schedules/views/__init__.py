"""How results look to people and programs: text, Markdown and JSON."""
