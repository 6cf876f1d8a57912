"""A payment whose first attempt stops its own worker, with SIGSTOP, at the point that the step asks for."""

from __future__ import annotations

import os
import signal
import threading
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel

from activities import JobContext, handler
from activities.idempotency import drivers, once
from activities.idempotency.database import connected

Point = Literal["before", "written", "same_row", "committing", "never"]
REAL_COMMIT = drivers.PsycopgSession.commit


class Payment(BaseModel):
    """`folder` takes notes of what happens; a file `fail` in it makes the effect fail."""

    database: str
    folder: Path
    stop: Point = "never"


@handler("zombie-pay")
def zombie_pay(params: Payment, context: JobContext) -> Any:
    """What an attempt saw goes to `ended`, since the server no longer listens to a zombie."""
    stopping = context.attempt == 1 and params.stop != "never"
    note(params.folder / "keys", f"{context.idempotency_key} {context.run_id} {context.attempt}")
    try:
        if stopping and params.stop == "before":
            stop(params)
        if stopping and params.stop == "committing":
            drivers.PsycopgSession.commit = commit_of(params)  # type: ignore[method-assign]  # there is no other way in
        with connected(params.database) as connection:
            result = once(connection, context, lambda given: pay(given, params, context))
    except BaseException as error:
        note(params.folder / "ended", f"{context.attempt} {type(error).__name__}")
        raise
    note(params.folder / "ended", f"{context.attempt} returned {result['by']}")
    return result


def pay(connection: Any, params: Payment, context: JobContext) -> dict[str, int]:
    """One more payment, or one more in the one row."""
    if params.stop == "same_row":
        connection.execute("UPDATE payments SET amount = amount + 1")
    else:
        connection.execute("INSERT INTO payments (amount) VALUES (12)")
    if context.attempt == 1 and params.stop in {"written", "same_row"}:
        stop(params)
    if (params.folder / "fail").exists():
        raise ConnectionError("the network")
    return {"by": context.attempt}


def commit_of(params: Payment) -> Any:
    """The second commit, that of the effect, is the one to stop before."""
    count = 0

    def commit(session: drivers.PsycopgSession) -> None:
        nonlocal count
        count += 1
        if count == 2:
            stop(params)
        REAL_COMMIT(session)

    return commit


def stop(params: Payment) -> None:
    """This process stands still from here until somebody sends SIGCONT."""
    note(params.folder / "stopped", str(os.getpid()))
    signal.pthread_kill(threading.get_ident(), signal.SIGSTOP)  # Sent to the process, it would stop this thread later.


def note(file: Path, line: str) -> None:
    """One more line, in one write."""
    with file.open("a") as notes:
        notes.write(f"{line}\n")
