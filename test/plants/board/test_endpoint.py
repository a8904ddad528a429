"""Where hosts plug in: they come, go, and are told apart from nobody."""

from __future__ import annotations

import os
import socket
import time
from pathlib import Path

import pytest

from humanoid_balance.errors import InputError
from humanoid_balance.plants.board import PtyEndpoint, TcpEndpoint
from humanoid_balance.plants.board.endpoint import SELDOM
from humanoid_balance.plants.port import Port, PortError


def wait_for(condition, seconds: float = 5.0) -> None:  # type: ignore[no-untyped-def]
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.001)


def connected(end: PtyEndpoint | TcpEndpoint) -> bool:
    end.read()
    return end.connected()


@pytest.mark.parametrize("kind", [PtyEndpoint, TcpEndpoint])
def test_bytes_go_both_ways_and_closing_is_seen(kind: type[PtyEndpoint | TcpEndpoint]) -> None:
    end = kind()
    assert not end.connected()
    port = Port(end.url, 4_000_000)
    port.open()
    wait_for(lambda: connected(end))
    every = bytes(range(256))
    assert port.send(every)
    got = b""
    until = time.monotonic() + 5.0
    while len(got) < 256 and time.monotonic() < until:
        got += end.read()
    assert got == every
    end.write(every)
    back = b""
    while len(back) < 256:
        data = port.receive(5.0)
        assert data
        back += data
    assert back == every
    port.close()
    wait_for(lambda: not connected(end))
    end.close()


@pytest.mark.parametrize("kind", [PtyEndpoint, TcpEndpoint])
def test_an_unplugged_port_is_an_error_and_can_be_opened_again(
    kind: type[PtyEndpoint | TcpEndpoint], tmp_path: Path
) -> None:
    end = PtyEndpoint(tmp_path / "port") if kind is PtyEndpoint else TcpEndpoint()
    port = Port(end.url, 4_000_000)
    port.open()
    wait_for(lambda: connected(end))
    end.unplug()
    with pytest.raises(PortError):
        for _ in range(100):
            port.receive(0.05)
    port.close()
    with pytest.raises(PortError):
        port.open()
    end.plug()
    port.open()
    wait_for(lambda: connected(end))
    port.close()
    end.close()


def test_a_full_line_never_blocks_the_host() -> None:
    end = PtyEndpoint()
    port = Port(end.url, 4_000_000)
    port.open()
    start = time.monotonic()
    taken = [port.send(b"x" * 1000 + b"\0") for _ in range(100)]
    assert time.monotonic() - start < 2.0
    assert taken[0] and not taken[-1] and port.overruns > 50
    port.close()
    end.close()


def test_a_second_client_is_closed_as_soon_as_it_is_seen() -> None:
    end = TcpEndpoint()
    address = end.url.removeprefix("socket://").split(":")
    first = socket.create_connection((address[0], int(address[1])))
    wait_for(end.connected)
    second = socket.create_connection((address[0], int(address[1])))
    second.settimeout(5.0)
    for _ in range(SELDOM + 1):  # not every look at the first one, a thousand times a second, looks for others
        assert end.connected()
    assert second.recv(1) == b""
    for client in (first, second):
        client.close()
    end.close()


def test_a_link_follows_the_terminal_and_is_removed(tmp_path: Path) -> None:
    link = tmp_path / "board"
    end = PtyEndpoint(link)
    assert end.url == str(link) and os.path.realpath(link).startswith("/dev/pts")
    end.close()
    assert not link.is_symlink()
    link.write_text("mine")
    with pytest.raises(InputError, match="exists and is no link to a pseudo-terminal"):
        PtyEndpoint(link)
