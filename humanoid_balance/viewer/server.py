"""The web server of the live page: viser's, kept on this machine and safe to write to from our own thread."""

from __future__ import annotations

import asyncio
import contextlib
import io

import viser


class Wake(asyncio.Event):
    """viser also sets its event from the thread that writes, where asyncio's would walk over waiters that change.

    There only the flag is set; the waiters are woken by the call that viser queues on its own thread anyway.
    """

    def set(self) -> None:
        self._value = True
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return
        self._value = False
        super().set()


class PageServer(viser.ViserServer):
    """Without viser's public tunnel and its greeting: what is on this page stays on this machine."""

    def __init__(self, host: str, port: int, title: str) -> None:
        with contextlib.redirect_stdout(io.StringIO()):
            super().__init__(host, port, label=title, verbose=False)
        self._websock_server._broadcast_buffer.message_event = Wake()

    def request_share_url(self, verbose: bool = True) -> str | None:
        return None

    def stop(self) -> None:
        with contextlib.redirect_stdout(io.StringIO()):
            super().stop()
