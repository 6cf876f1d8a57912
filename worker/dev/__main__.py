"""`python -m worker.dev [PATH…]`."""

from worker.dev.run import main

main()
