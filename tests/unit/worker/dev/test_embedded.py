"""The embedded server's surroundings: its ports and the lock on its state."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from worker.dev.embedded import EmbeddedServerError, locked
from worker.dev.ports import claimed_port, free_port


def listener(port: int = 0) -> socket.socket:
    server = socket.socket()
    server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    server.bind(("127.0.0.1", port))
    server.listen()
    return server


def test_the_preferred_port_is_taken_when_it_is_free() -> None:
    with listener() as server:
        port = server.getsockname()[1]
    assert free_port(port) == port


def test_another_port_is_taken_when_the_preferred_one_is_busy() -> None:
    with listener() as server:
        busy = server.getsockname()[1]
        other = free_port(busy)
        assert other != busy
        listener(other).close()


def test_connections_that_a_server_of_a_moment_ago_has_closed_leave_its_port_free() -> None:
    """Such a connection stays in TIME_WAIT for a minute, and a plain `bind` is refused meanwhile."""
    with listener() as server, socket.create_connection(server.getsockname()) as client:
        port = server.getsockname()[1]
        accepted, _ = server.accept()
        accepted.close()
        client.recv(1)
    with socket.socket() as plain, pytest.raises(OSError, match="in use"):
        plain.bind(("127.0.0.1", port))
    assert free_port(port) == port


def test_of_two_that_want_the_same_port_one_gets_it_and_the_next_one_once_it_is_given_back() -> None:
    with listener() as server:
        port = server.getsockname()[1]
    with claimed_port(port) as first, claimed_port(port) as second:
        assert first == port
        assert second != port
    with claimed_port(port) as third:
        assert third == port


def test_a_state_is_locked_for_one_at_a_time(tmp_path: Path) -> None:
    state = tmp_path / "deep" / "state"
    with locked(state):
        with pytest.raises(EmbeddedServerError, match="in use by another") as refused, locked(state):
            pass
        assert refused.value.exit_code == 1
    with locked(state):
        pass
