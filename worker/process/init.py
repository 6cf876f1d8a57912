"""The first process of a container: reaps what nobody else waits for, and hands signals on to the worker."""

from __future__ import annotations

import os
import signal
from typing import NoReturn

from worker.process.undumpable import close_to_commands

_INIT = 1
_KEPT = {signal.SIGCHLD, signal.SIGKILL, signal.SIGSTOP}
"""Signals that are not handed on: the first is about a child, the others reach no handler."""


def split_from_init() -> None:
    """As PID 1, forks: returns in the child, and ends this process as the child ends. Elsewhere does nothing.

    Orphans of a PID namespace become children of its first process and stay zombies until that waits for them. The worker
    itself must not: it would take exit codes from whoever started those processes. To be called while there is one thread.
    """
    if os.getpid() != _INIT:
        return
    others = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals() - _KEPT | {signal.SIGCHLD})
    worker = os.fork()
    if worker:
        _be_init(worker)
    os.setsid()  # A terminal's Ctrl-C reaches this process through the first one, and so once.
    signal.pthread_sigmask(signal.SIG_SETMASK, others)


def _be_init(worker: int) -> NoReturn:
    close_to_commands()  # Its environment has the worker's secrets.
    while True:
        number = signal.sigwait(signal.valid_signals())
        if number != signal.SIGCHLD:
            os.kill(worker, number)
            continue
        for pid, status in _reaped():
            if pid == worker:
                code = os.waitstatus_to_exitcode(status)
                os._exit(code if code >= 0 else 128 - code)


def _reaped() -> list[tuple[int, int]]:
    """Process ids and wait statuses of the children that have ended."""
    ended: list[tuple[int, int]] = []
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return ended
        if not pid:
            return ended
        ended.append((pid, status))
