"""`python -m schedules.sync PATH…`: the verb `sync`."""

from schedules.commands.sync import main

main()
