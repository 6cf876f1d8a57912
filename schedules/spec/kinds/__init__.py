"""The kinds of handlers, one file each; `schedules/spec/handlers.py` is their table."""
