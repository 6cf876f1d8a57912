"""One file for each verb: it parses the command line, calls the rooms below, and shows the result."""
