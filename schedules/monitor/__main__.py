"""`python -m schedules.monitor [PATH…]`: the verb `monitor`."""

from schedules.commands.monitor import main

main()
