"""Runs a command in a process group of its own, and ends the whole group when the command ends or its starter is gone.

Stand-alone, no imports from the package: `python -I -S guard.py FD GRACE ARGV…`. FD is one end of a socket pair; the
starter keeps the other, and is told `failed ERRNO` or `started PID`, and `ended`. The end of input, also by the death
of the starter, means SIGTERM to the group, and SIGKILL after GRACE seconds; so do SIGTERM, SIGINT and SIGHUP. On Linux
that goes for what has left the group as well; only a command that ends by itself may leave such a process behind. The
exit code or signal is the command's.
"""

from __future__ import annotations

import ctypes
import os
import resource
import select
import signal
import sys
import time

_CHECK_SECONDS = 1.0
_GROUP_POLL_SECONDS = 0.02
_STOP_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
# Python ignores these two, and what is ignored stays so in a new program.
_IGNORED_BY_PYTHON = (signal.SIGPIPE, signal.SIGXFSZ)
_SPAWN_FAILED = 127
_PR_SET_CHILD_SUBREAPER = 36  # linux/prctl.h


class Guard:
    """One command under guard."""

    def __init__(self, line: int, grace: float) -> None:
        self._line = line
        self._grace = grace
        self._parent = os.getppid()
        self._kill_at: float | None = None
        self._signalled = False
        self._wake, wake_write = os.pipe()
        for end in (self._wake, wake_write):
            os.set_blocking(end, False)
        signal.set_wakeup_fd(wake_write, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        for number in _STOP_SIGNALS:
            signal.signal(number, self._note_signal)

    def run(self, argv: list[str]) -> int:
        """Run to the end; the wait status of the command."""
        _adopt_orphans()
        try:
            pid = os.posix_spawnp(argv[0], argv, os.environ, setpgroup=0, setsigmask=(), setsigdef=_IGNORED_BY_PYTHON)
        except OSError as error:
            self._tell(f"failed {error.errno}")
            return _SPAWN_FAILED << 8
        self._tell(f"started {pid}")
        status = self._watch(pid)
        self._end_group(pid)
        if self._kill_at is not None:
            self._end_strays(self._kill_at)
        self._tell("ended")
        return status

    def _watch(self, pid: int) -> int:
        poll = select.poll()
        poll.register(self._line, select.POLLIN)
        poll.register(self._wake, select.POLLIN)
        while True:
            if (status := _reap().get(pid)) is not None:
                return status
            left = _CHECK_SECONDS if self._kill_at is None else self._kill_at - time.monotonic()
            if left <= 0:
                _signal_group(pid, signal.SIGKILL)
                left = _CHECK_SECONDS
            events = poll.poll(min(left, _CHECK_SECONDS) * 1000)
            if any(source == self._wake for source, _ in events):
                os.read(self._wake, 512)
            if self._kill_at is None and self._must_stop(line_ready=any(source == self._line for source, _ in events)):
                poll.unregister(self._line)
                self._kill_at = time.monotonic() + self._grace
                _signal_group(pid, signal.SIGTERM)

    def _must_stop(self, *, line_ready: bool) -> bool:
        """The parent is asked for too: a process that it forked can keep the line open beyond its death."""
        return self._signalled or (line_ready and not _read(self._line)) or os.getppid() != self._parent

    def _end_group(self, pid: int) -> None:
        """Nothing that the command left behind in its group outlives it."""
        kill_at = self._kill_at or time.monotonic() + self._grace
        alive = _signal_group(pid, signal.SIGTERM)
        # Nobody is told of the end of a group that is not one's own children; this process has nothing else to do.
        while alive and time.monotonic() < kill_at:
            time.sleep(_GROUP_POLL_SECONDS)
            _reap()
            alive = _signal_group(pid, 0)
        if alive:
            _signal_group(pid, signal.SIGKILL)

    def _end_strays(self, kill_at: float) -> None:
        """What left the group has become a child of this process once its parents are gone; returns when no child is left.

        The system says when that is: a process that starts anew while /proc is read is not found there.
        """
        asked: set[int] = set()
        while _has_children():
            strays = _children()
            if time.monotonic() >= kill_at:
                _signal_all(strays, signal.SIGKILL)
            else:
                _signal_all(strays - asked, signal.SIGTERM)
                asked |= strays
            overdue = time.monotonic() - kill_at > _CHECK_SECONDS  # by what SIGKILL does not end, or may not be sent to
            time.sleep(_CHECK_SECONDS if overdue else _GROUP_POLL_SECONDS)
            _reap()

    def _note_signal(self, *_: object) -> None:
        self._signalled = True

    def _tell(self, message: str) -> None:
        try:
            os.write(self._line, message.encode() + b"\n")
        except OSError:
            return  # The starter is gone; there is nobody to tell.


def _adopt_orphans() -> None:
    """Make the command's orphans children of this process, to be reaped: in a container nobody else may do it.

    Linux only; elsewhere a zombie that is left in the group costs the grace, no more.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def _reap() -> dict[int, int]:
    """Wait statuses of the children that have ended."""
    ended: dict[int, int] = {}
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return ended
        if not pid:
            return ended
        ended[pid] = status


def _has_children() -> bool:
    """Whether this process has a child, living or ended; False but on Linux, where orphans are not adopted."""
    if sys.platform != "linux":
        return False
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    return True


def _signal_group(pid: int, number: int) -> bool:
    """Whether there was anyone in the group to get it."""
    try:
        os.killpg(pid, number)
    except (ProcessLookupError, PermissionError):  # macOS answers the latter for a group of zombies
        return False
    return True


def _children() -> set[int]:
    """The living children of this process; none known but on Linux."""
    found: set[int] = set()
    if sys.platform != "linux":
        return found
    for entry in filter(str.isdecimal, os.listdir("/proc")):  # noqa: PTH208 - no pathlib in a process that is to start fast
        try:
            with open(f"/proc/{entry}/stat", "rb") as file:  # noqa: PTH123 - as above
                state, parent = file.read().rpartition(b")")[2].split()[:2]  # proc(5): pid (comm) state ppid
        except OSError:
            continue
        if int(parent) == os.getpid() and state != b"Z":
            found.add(int(entry))
    return found


def _signal_all(pids: set[int], number: int) -> None:
    for pid in pids:
        try:
            os.kill(pid, number)
        except (ProcessLookupError, PermissionError):  # the latter for a process of another user, such as by sudo
            continue


def _read(line: int) -> bytes:
    try:
        return os.read(line, 512)
    except OSError:
        return b""


def _end_like(status: int) -> None:
    """End this process with the exit code or by the signal of `status`."""
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if number not in {signal.SIGKILL, signal.SIGSTOP}:
            signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
    os._exit(os.waitstatus_to_exitcode(status))


def main() -> None:
    """See the module."""
    given = int(sys.argv[1])
    line = os.dup(given)  # Not inherited by the command, and a low number.
    os.close(given)
    _end_like(Guard(line, float(sys.argv[2])).run(sys.argv[3:]))


if __name__ == "__main__":
    main()
