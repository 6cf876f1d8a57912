"""One account of an occurrence: did it run, and if not, why. Imported by late start, watchdog and ledger."""
