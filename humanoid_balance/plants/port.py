"""Bytes in and out of one pyserial URL. Reading waits in a thread of its own, writing never waits."""

from __future__ import annotations

import contextlib
import io
import os
import select
import socket
from typing import Any

import serial

CHUNK = 65536  # [bytes]


class PortError(OSError):
    """The port cannot be opened, or is gone."""


class Port:
    """``/dev/ttyUSB0``, ``socket://host:port`` or any other URL that pyserial knows."""

    def __init__(self, url: str, baud: int) -> None:
        self.url, self.baud = url, baud
        self.overruns = 0  # frames not sent because the line was still full
        self._port: Any = None
        self._file = -1  # descriptor, where the kind of port has one
        self._rest = b""  # of a frame that the kernel took only a part of

    def open(self) -> None:
        try:
            port = serial.serial_for_url(
                self.url, baudrate=self.baud, timeout=0.01, write_timeout=0, exclusive=True, do_not_open=True
            )
            port.open()
        except (OSError, ValueError) as error:
            raise PortError(f"{self.url}: {error}") from None
        self._port, self._rest = port, b""
        with contextlib.suppress(AttributeError, OSError, ValueError, NotImplementedError):
            port.set_low_latency_mode(True)  # USB adapters otherwise collect bytes for 16 ms
        try:
            self._file = port.fileno()
        except (AttributeError, io.UnsupportedOperation):
            self._file = -1
            return
        os.set_blocking(self._file, False)
        if self.url.startswith("socket:"):
            with socket.socket(fileno=os.dup(self._file)) as same:
                same.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def receive(self, timeout: float) -> bytes:
        """Bytes as soon as there are some, or none after ``timeout`` [s]."""
        try:
            if self._file < 0:
                return self._receive_portably()
            if not select.select([self._file], [], [], timeout)[0]:
                return b""
            data = os.read(self._file, CHUNK)
        except BlockingIOError:
            return b""
        except (OSError, ValueError, TypeError) as error:  # pyserial raises these on a port that was closed meanwhile
            raise PortError(f"{self.url}: {error}") from None
        if not data:
            raise PortError(f"{self.url}: the other end is gone")
        return data

    def _receive_portably(self) -> bytes:
        first: bytes = self._port.read(1)
        return first + self._port.read(self._port.in_waiting) if first else first

    def send(self, data: bytes, urgent: bool = False) -> bool:
        """Whole frames, or not at all: False if the line is still busy with the one before.

        An ``urgent`` frame goes out even behind half of another one: the zero that it begins with ends that half.
        """
        if self._rest and not urgent:
            self._rest = self._write(self._rest)
            if self._rest:
                self.overruns += 1
                return False
        self._rest = self._write(data)
        if len(self._rest) == len(data):
            self._rest = b""
            self.overruns += 1
            return False
        return True

    def _write(self, data: bytes) -> bytes:
        """What the port did not take."""
        try:
            count = self._port.write(data) if self._file < 0 else os.write(self._file, data)
        except BlockingIOError:
            count = 0
        except (OSError, ValueError, TypeError, AttributeError) as error:
            raise PortError(f"{self.url}: {error}") from None
        return data[count:]

    def close(self) -> None:
        port, self._port, self._file = self._port, None, -1
        if port is not None:
            with contextlib.suppress(OSError):
                port.close()
