"""The `sql` handler: statements for a database, in one transaction with the key that tells a repeat."""

from activities.handlers.sql.run import SqlHandler

HANDLER = SqlHandler
