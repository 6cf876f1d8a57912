"""`python -m activities.idempotency`: makes the table of the keys, or shows the SQL that does."""

from __future__ import annotations

import argparse
import os
import sys
from typing import TYPE_CHECKING

from activities.errors import HandlerError
from activities.idempotency.database import connected
from activities.idempotency.migrations import migrate, migration

if TYPE_CHECKING:
    from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> None:
    """Ends with 0 when done, 1 when the database refused, 2 when the command line is wrong."""
    run(_parser(), arguments)


def run(parser: argparse.ArgumentParser, arguments: Sequence[str] | None) -> None:
    """Reads the command line and carries it out."""
    options = parser.parse_args(arguments)
    options.execute(parser, options)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m activities.idempotency", description=__doc__)
    verbs = parser.add_subparsers(required=True, metavar="VERB")
    apply = verbs.add_parser("migrate", help="make the table tickwright_effects, or bring it to this version")
    apply.add_argument(
        "--database",
        metavar="URL",
        default=os.environ.get("DATABASE_URL"),
        help="postgresql://… (needs psycopg) or sqlite:///FILE (default: $DATABASE_URL)",
    )
    apply.set_defaults(execute=_migrate)
    show = verbs.add_parser("sql", help="print the SQL instead, for a migration tool of yours")
    show.add_argument("kind", choices=["postgresql", "sqlite"])
    show.set_defaults(execute=lambda _, options: print(migration(options.kind), end=""))
    return parser


def _migrate(parser: argparse.ArgumentParser, options: argparse.Namespace) -> None:
    if not options.database:
        parser.error("no database; give --database URL or set DATABASE_URL")
    try:
        with connected(options.database) as connection:
            migrate(connection)
    except HandlerError as error:
        parser.error(error.message)
    except Exception as error:  # noqa: BLE001  whatever driver it is, its message says what the database refused
        sys.exit(f"the table was not made: {type(error).__name__}: {error}")
    print("tickwright_effects is there", file=sys.stderr)


if __name__ == "__main__":
    main()
