"""What a command shares with its terminal: output, progress, tables and signals."""
