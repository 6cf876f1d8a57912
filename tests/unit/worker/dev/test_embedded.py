"""The embedded server's surroundings: its ports and the lock on its state."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from schedules.errors import SettingsError
from worker.dev.embedded import EmbeddedServerError, locked
from worker.dev.ports import USUAL, Ports, claimed_port, free_port


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


def test_a_folder_has_the_same_ports_every_time(tmp_path: Path) -> None:
    with listener() as server:
        port = server.getsockname()[1]
    with Ports(tmp_path, {"port": port}).claimed("port") as asked_for:
        pass
    with Ports(tmp_path).claimed("port") as again, Ports(tmp_path / "other").claimed("port") as others:
        assert asked_for == again == port
        assert others != port


def test_a_port_that_was_asked_for_is_not_replaced_by_another(tmp_path: Path) -> None:
    with listener() as server:
        port = server.getsockname()[1]
        with pytest.raises(SettingsError, match=f"--board-port {port}: the port is busy") as refused:
            Ports(tmp_path, {"board_port": port}).claimed("board_port").__enter__()
        assert refused.value.exit_code == 2


def test_ports_that_cannot_be_read_are_chosen_anew(tmp_path: Path) -> None:
    (tmp_path / "ports.json").write_text("[]")
    with Ports(tmp_path).claimed("ui_port") as port:
        assert port >= USUAL["ui_port"]
