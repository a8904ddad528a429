"""Where a host plugs in: a pseudo-terminal, or a TCP port for one client at a time. Never blocks."""

from __future__ import annotations

import contextlib
import os
import select
import socket
import tty
from pathlib import Path
from typing import Protocol

from humanoid_balance.errors import InputError

CHUNK = 65536  # [bytes]
SELDOM = 64  # looks at a client for one at the door, which takes longer
TERMINALS = "/dev/pts/"


class Endpoint(Protocol):
    """The board's end of a cable."""

    @property
    def url(self) -> str: ...  # what a host opens

    def files(self) -> list[int]: ...  # file descriptors that wake the board up

    def read(self) -> bytes: ...

    def write(self, data: bytes) -> None: ...  # what does not fit into the kernel's buffer is lost, as in a UART

    def connected(self) -> bool: ...

    def unplug(self) -> None: ...

    def plug(self) -> None: ...

    def close(self) -> None: ...


def _stale(link: Path) -> bool:
    """A link that another virtual board made, not one that leads to a real port."""
    return link.is_symlink() and str(link.readlink()).startswith(TERMINALS)


class PtyEndpoint:
    """A pseudo-terminal. ``link`` is a symbolic link to it, which stays the same after unplugging."""

    def __init__(self, link: Path | None = None) -> None:
        self.link = link
        if link is not None and (link.exists() or link.is_symlink()) and not _stale(link):
            raise InputError(f"link {link}: exists and is no link to a pseudo-terminal")
        self._master = -1
        self.plug()

    @property
    def url(self) -> str:
        return str(self.link or self._path)

    def plug(self) -> None:
        self._master, slave = os.openpty()
        tty.setraw(slave)
        os.set_blocking(self._master, False)
        self._path = os.ttyname(slave)
        os.close(slave)  # from now on the kernel tells us whether a host holds the other end
        if self.link is not None:
            self.link.unlink(missing_ok=True)
            try:
                self.link.symlink_to(self._path)
            except OSError as error:
                raise InputError(f"link {self.link}: cannot be made: {error.strerror}") from None

    def unplug(self) -> None:
        if self.link is not None:
            self.link.unlink(missing_ok=True)
        if self._master >= 0:
            os.close(self._master)
        self._master = -1

    close = unplug

    def files(self) -> list[int]:
        return [self._master] if self._master >= 0 and self.connected() else []

    def connected(self) -> bool:
        if self._master < 0:
            return False
        poll = select.poll()
        poll.register(self._master, 0)
        return not any(event & select.POLLHUP for _, event in poll.poll(0))

    def read(self) -> bytes:
        try:
            return os.read(self._master, CHUNK) if self._master >= 0 else b""
        except OSError:  # nothing there, or nobody
            return b""

    def write(self, data: bytes) -> None:
        if self.connected():
            with contextlib.suppress(OSError):
                os.write(self._master, data)


class TcpEndpoint:
    """A TCP port; a second client is closed as soon as it is seen."""

    def __init__(self, port: int = 0, host: str = "127.0.0.1") -> None:
        self._address = (host, port)
        self._listener: socket.socket | None = None
        self._client: socket.socket | None = None
        self._looked = 0  # times since somebody looked for a second client
        self.plug()

    @property
    def url(self) -> str:
        return f"socket://{self._address[0]}:{self._address[1]}"

    def plug(self) -> None:
        try:
            self._listener = socket.create_server(self._address, backlog=1)
        except OSError as error:
            raise InputError(f"port {self._address[1]}: {error.strerror}") from None
        self._listener.setblocking(False)
        self._address = self._listener.getsockname()[:2]

    def unplug(self) -> None:
        for end in (self._client, self._listener):
            if end is not None:
                end.close()
        self._client = self._listener = None

    close = unplug

    def files(self) -> list[int]:
        return [end.fileno() for end in (self._client, self._listener) if end is not None]

    def connected(self) -> bool:
        self._accept()
        return self._client is not None

    def read(self) -> bytes:
        self._accept()
        if self._client is None:
            return b""
        try:
            data = self._client.recv(CHUNK)
        except BlockingIOError:
            return b""
        except OSError:
            data = b""
        if not data:
            self._client.close()
            self._client = None
        return data

    def write(self, data: bytes) -> None:
        if self._client is not None:
            with contextlib.suppress(OSError):
                self._client.send(data)

    def _accept(self) -> None:
        if self._listener is None:
            return
        if self._client is not None and self._looked < SELDOM:
            self._looked += 1
            return
        self._looked = 0
        with contextlib.suppress(OSError):
            client, _ = self._listener.accept()
            if self._client is not None:
                client.close()
                return
            client.setblocking(False)
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._client = client
